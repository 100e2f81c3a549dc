package limiter_test

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

func TestATickLateByNanosecondsGetsNoSecondBudget(t *testing.T) {
	length := tallyring.Tick(window)
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10, limiter.WithKeys(1))
		span := max(tallyring.Tick(k.width)*tallyring.Tick(k.slots), length)
		full := start + max(tallyring.Tick(k.width), 1) - 1 // the end of a bucket
		ticks := []tallyring.Tick{}
		take := func(now tallyring.Tick) {
			for range 20 {
				if d := l.TakeAt("A", now, 1); d.Allowed {
					ticks = append(ticks, d.At)
				}
			}
		}
		take(full)
		next := start + span // the first tick at which A is expired
		if k.slots == 0 {
			next = full + length
		}
		l.AllowAt("B", next, 1) // takes over A's cell
		take(next - 2)          // read 2 ns earlier, decided later
		bound := 10
		if !k.strict && k.slots > 1 {
			bound = 20
		}
		if k.slots == 1 {
			n := 0
			for _, at := range ticks {
				if at/length == start/length {
					n++
				}
			}
			require.LessOrEqual(t, n, 10, "one bucket of a fixed window")
			return
		}
		require.LessOrEqual(t, worstTrailing(ticks, length), bound)
	})
}

func TestWithMaxLimitHoldsUnderUnlimited(t *testing.T) {
	l, err := limiter.New(tallyring.Unlimited, time.Second, limiter.WithMaxLimit(1<<30))
	require.NoError(t, err)
	require.NoError(t, l.SetLimit(1<<30))
	_, err = limiter.New(tallyring.Unlimited, time.Second, limiter.WithMaxLimit(1<<60))
	require.Error(t, err, "no cell holds that")
}

func TestKeysOfDifferentFormsAreDifferent(t *testing.T) {
	l := kinds[1].build(t, 1)
	require.NotEqual(t, l.Key("abcd"), l.KeyAddr(netip.MustParseAddr("97.98.99.100")))
	require.NotEqual(t, l.Key("0123456789abcdef"),
		kinds[1].build(t, 1, limiter.WithIPv6Prefix(128)).
			KeyAddr(netip.AddrFrom16([16]byte([]byte("0123456789abcdef")))))
	require.NotEqual(t, l.Key(""), l.KeyAddr(netip.Addr{}))
	require.NotEqual(t, l.Key(""), l.KeyParts())
	require.NotEqual(t, l.Key("\x01\x00\x00\x00\x00\x00\x00\x00a"), l.KeyParts("a"))
}

func TestAheadOfANegativeClock(t *testing.T) {
	clock := &tallyring.ManualClock{}
	clock.Set(-tallyring.Tick(time.Hour))
	l := kinds[1].build(t, 10, limiter.WithClock(clock))
	l.AllowAt("a", 0, 1)
	l.AllowAt("a", 5, 1)
	require.Zero(t, l.StatsAt(0).Ahead)
	clock.Set(math.MinInt64)
	l.AllowAt("a", 5, 1)
	require.Zero(t, l.StatsAt(0).Ahead)
}

func TestNilOptionIsAnErrorNotAPanic(t *testing.T) {
	require.NotPanics(t, func() { _, _ = limiter.New(1, window, nil) })
}

func TestTheProposedWidthIsTaken(t *testing.T) {
	_, err := limiter.New(1, 97, limiter.WithResolution(50))
	require.NotContains(t, err.Error(), "such as 1ns")
}
