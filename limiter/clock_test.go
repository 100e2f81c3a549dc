package limiter_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// TestTheDefaultClockRuns uses a limiter without a clock of the test's. Its ticks go forward, lie
// within the process's life, and a window of a decade does not end during the test.
func TestTheDefaultClockRuns(t *testing.T) {
	l, err := limiter.New(2, tallyring.MaxLength)
	require.NoError(t, err)
	first, second := l.Take("a", 1), l.Take("a", 1)
	require.True(t, first.Allowed && second.Allowed)
	require.Positive(t, first.At)
	require.GreaterOrEqual(t, second.At, first.At)
	const apart = tallyring.Tick(time.Millisecond) // the default clock and the system's
	require.LessOrEqual(t, second.At, tallyring.Monotonic().Now()+apart)
	require.False(t, l.Allow("a"))
	require.False(t, l.AllowN("a", 1))
	require.True(t, l.AllowAt("b", tallyring.Monotonic().Now(), 1), "the same clock")
	require.Zero(t, l.Stats().Ahead)
}

// TestAClockThatGoesBackGivesNothing sets a clock back by less and by more than a window: the
// events are late, and are counted with the newest.
func TestAClockThatGoesBackGivesNothing(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		clock := &tallyring.ManualClock{}
		l := k.build(t, 10, limiter.WithClock(clock))
		clock.Set(start)
		for range 6 {
			require.True(t, l.Allow("a"))
		}
		passed := 6
		for _, back := range []time.Duration{1, time.Second, window, 3 * window, 9 * time.Hour} {
			clock.Advance(-back)
			for range 20 {
				if d := l.Take("a", 1); d.Allowed {
					require.Equal(t, start, d.At)
					passed++
				}
			}
		}
		require.Equal(t, 10, passed)
		require.True(t, l.Allow("b"), "another key knows nothing of it")
		clock.Set(start + tallyring.Tick(2*window))
		require.True(t, l.Allow("a"))
	})
}

// TestAClockThatStandsStillAdmitsTheLimit asks often at one tick, 0 among them.
func TestAClockThatStandsStillAdmitsTheLimit(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, now := range []tallyring.Tick{0, 1, start, math.MaxInt64 - tallyring.Tick(window)} {
			clock := &tallyring.ManualClock{}
			clock.Set(now)
			l := k.build(t, 10, limiter.WithClock(clock))
			passed := 0
			for range 1000 {
				if l.Allow("a") {
					passed++
				}
			}
			require.Equal(t, 10, passed, "at %d", now)
		}
	})
}

// TestATickFarAheadHoldsItsKeyOnly has a clock jump years ahead and come back. The key that
// counted there stays there until time catches up; it is one window's budget, and other keys are
// not touched.
func TestATickFarAheadHoldsItsKeyOnly(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		clock := &tallyring.ManualClock{}
		l := k.build(t, 10, limiter.WithClock(clock))
		clock.Set(start)
		require.True(t, l.Allow("a"))
		far := tallyring.Tick(9 * 365 * 24 * time.Hour)
		clock.Set(far)
		require.True(t, l.AllowN("a", 9))
		require.False(t, l.AllowN("quiet", 11), "a denial there leaves nothing behind")
		require.True(t, l.AllowN("quiet", 0))
		clock.Set(start + 1)
		require.True(t, l.Allow("a"))
		require.False(t, l.Allow("a"), "held at ten years ahead")
		clock.Advance(10 * window)
		require.False(t, l.Allow("a"), "still held")
		d := l.Take("a", 1)
		require.Greater(t, d.RetryAfter, 8*365*24*time.Hour)
		for range 10 {
			require.True(t, l.Allow("quiet"))
			require.True(t, l.Allow("b"))
		}
		require.False(t, l.Allow("b"))
		clock.Set(far + tallyring.Tick(2*window))
		require.Equal(t, 10, admitted(l, "a", clock.Now(), 20), "time has caught up")
	})
}

// TestNegativeTicksCountAsZero decides before the origin of the clock.
func TestNegativeTicksCountAsZero(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		clock := &tallyring.ManualClock{}
		l := k.build(t, 10, limiter.WithClock(clock))
		for _, now := range []tallyring.Tick{math.MinInt64, -tallyring.Tick(window), -1, 0} {
			clock.Set(now)
			d := l.Take("a", 2)
			require.True(t, d.Allowed)
			require.Zero(t, d.At, "at %d", now)
			require.EqualValues(t, 10, l.PeekAt("b", now).High+d.Remaining+l.PeekAt("a", now).High)
		}
		require.Equal(t, 2, admitted(l, "a", -7, 9))
		l.RefundAt("a", -100, 3)
		require.Equal(t, 3, admitted(l, "a", 0, 9))
		d := l.TakeAt("a", math.MinInt64, 1)
		require.False(t, l.AllowAt("a", tallyring.Tick(d.RetryAfter)-1, 1), "waits count from 0")
		require.True(t, l.AllowAt("a", tallyring.Tick(d.RetryAfter), 1))
	})
}

// TestTheEndOfTime decides at the last ticks that there are. Nothing wraps, and no wait is
// negative.
func TestTheEndOfTime(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10, limiter.WithClock(&tallyring.ManualClock{}))
		last := tallyring.Tick(math.MaxInt64)
		require.Equal(t, 10, admitted(l, "a", last-1, 20))
		require.Equal(t, 0, admitted(l, "a", last, 20))
		d := l.TakeAt("a", last, 11)
		require.Equal(t, tallyring.Never, d.RetryAfter)
		require.GreaterOrEqual(t, d.ResetAfter, time.Duration(0))
		require.GreaterOrEqual(t, l.TakeAt("a", last, 10).RetryAfter, time.Duration(0))
		require.Equal(t, 10, admitted(l, "b", last, 20))
		require.EqualValues(t, 10, l.PeekAt("b", last).High)
	})
}
