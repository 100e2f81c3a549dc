package limiter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// Goal: neither events of several demands nor observed ones allocate, whether they pass, are denied
// at once, or are charged and taken back. Method: every kind of window and of option, with logs of
// the size that they need.
func TestNoJointDecisionAllocates(t *testing.T) {
	bucket := kind{"bucket", []limiter.Option{limiter.WithBurst(20)}, 2, window, false}
	hot := kind{"hot", []limiter.Option{limiter.WithHotKeys("a", "b")}, 2, window, false}
	counting := kind{"counting", []limiter.Option{limiter.WithCountDenied()}, 2, window, false}
	for _, k := range append(slices.Clone(kinds), bucket, hot, counting) {
		for _, shadow := range []bool{false, true} {
			clock := &tallyring.ManualClock{}
			clock.Set(start)
			one, two := k.build(t, 20, limiter.WithClock(clock)), k.build(t, 5)
			one.SetShadow(shadow)
			demands := []limiter.Demand{
				{one, one.Key("a")}, {two, two.Key("a")}, {two, two.Key("b")}, {two, two.Key("b")}}
			call := func() {
				now := clock.Advance(window / 50)
				j := limiter.TakeAll(demands[:3], now, 2)
				limiter.AllowAll(demands, now, 1)
				limiter.AllowAll(demands, now, 3) // charged, and taken back
				limiter.AllowAll(demands, now, 0)
				limiter.RefundAll(demands[:3], j, 2)
				one.Observe("a", 1)
				one.ObserveAt("c", now, 1)
				one.SetShadow(shadow)
			}
			for range 300 {
				call()
			}
			require.Zero(t, testing.AllocsPerRun(200, call), "%s, shadow %t", k.name, shadow)
		}
	}
}

// Goal: a wait that passes at once allocates nothing.
func TestAWaitThatPassesAllocatesNothing(t *testing.T) {
	const limit = 1 << 30
	l, err := limiter.New(limit, time.Hour)
	require.NoError(t, err)
	s, err := limiter.NewSeveral([]limiter.Rate{{limit, time.Hour}, {limit, time.Minute}})
	require.NoError(t, err)
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(200, func() {
		if l.Wait(ctx, "a") != nil || s.Wait(ctx, "a") != nil {
			t.Error("it did not pass")
		}
	}))
}
