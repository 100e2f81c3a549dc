package limiter_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// TestADenialChangesNothing denies at later and later ticks: nothing more is counted, no bucket
// turns, and an event that then comes late is still counted where it belongs.
func TestADenialChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		require.True(t, l.AllowAt("a", start, 8))
		require.False(t, l.AllowAt("a", start, 5), "8 + 5")
		before := l.PeekAt("a", start)
		for _, now := range []tallyring.Tick{start, start + 1, start + tallyring.Tick(window)/2} {
			require.False(t, l.AllowAt("a", now, 5))
			require.False(t, l.TakeAt("a", now, 5).Allowed)
			require.False(t, l.AllowKey(l.Key("a"), now+1000, 11))
		}
		require.Equal(t, before, l.PeekAt("a", start))
		d := l.TakeAt("a", start, 1)
		require.Equal(t, tallyring.Decision{Allowed: true, Limit: 10, Remaining: 1, At: start,
			ResetAfter: d.ResetAfter}, d, "a denied event is not charged")
	})
}

// TestADenialTurnsNoBucket fills a key at the end of a bucket, has an event denied in the next, and
// counts another late: it must land in the old bucket, which is still the newest.
func TestADenialTurnsNoBucket(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		require.True(t, l.AllowAt("a", start-1, 9))
		if k.slots != 1 {
			require.False(t, l.AllowAt("a", start, 2))
		}
		require.False(t, l.TakeAt("a", start, 11).Allowed)
		require.True(t, l.AllowAt("a", start, 0))
		require.Equal(t, start-1, l.TakeAt("a", start-1, 1).At)
		require.False(t, l.AllowAt("a", start-1, 1))
	})
}

// TestCostZeroAsksAndCountsNothing asks about unknown keys, which must not take a cell, and about
// known ones at every fill.
func TestCostZeroAsksAndCountsNothing(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 2)
		require.True(t, l.AllowAt("a", start, 0))
		require.True(t, l.AllowN("a", 0))
		require.True(t, l.TakeAt("a", start, 0).Allowed)
		require.EqualValues(t, 2, l.TakeAt("a", start, 0).Remaining)
		require.Zero(t, l.PeekAt("a", start))
		require.Zero(t, l.StatsAt(start).Live+l.StatsAt(start).Expired, "a question makes no key")
		require.True(t, l.AllowAt("a", start, 2))
		require.True(t, l.AllowAt("a", start, 0), "2 of 2 is within the limit")
		require.NoError(t, l.SetLimit(1))
		require.False(t, l.AllowAt("a", start, 0), "2 of 1 is not")
		d := l.TakeAt("a", start, 0)
		require.False(t, d.Allowed)
		require.Greater(t, d.RetryAfter, time.Duration(0))
		require.Less(t, d.RetryAfter, 2*window+1)
		require.EqualValues(t, 2, l.PeekAt("a", start).High)
	})
}

// TestCostAboveTheLimitIsNever asks for more than the limit, of empty, part-filled and full keys.
func TestCostAboveTheLimitIsNever(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 3)
		for fill := range 4 {
			for _, cost := range []uint64{4, 5, 1 << 40, math.MaxInt64, math.MaxUint64} {
				d := l.TakeAt("a", start, cost)
				require.False(t, d.Allowed)
				require.Equal(t, tallyring.Never, d.RetryAfter, "cost %d, fill %d", cost, fill)
				require.EqualValues(t, 3-fill, d.Remaining)
				require.False(t, l.AllowAt("a", start, cost))
			}
			require.Equal(t, fill < 3, l.AllowAt("a", start, 1))
		}
		require.EqualValues(t, 3, l.PeekAt("a", start).High)
	})
}

// TestLimitZeroDeniesEverything denies also cost 0, for ever, and makes no key.
func TestLimitZeroDeniesEverything(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 0)
		for _, cost := range []uint64{0, 1, 2, math.MaxUint64} {
			d := l.TakeAt("a", start, cost)
			require.Equal(t, tallyring.Decision{RetryAfter: tallyring.Never, At: start}, d)
			require.False(t, l.AllowAt("a", start, cost))
			require.False(t, l.AllowN("a", cost))
		}
		require.Zero(t, l.StatsAt(start).Live)
		require.NoError(t, l.SetLimit(1))
		require.True(t, l.AllowAt("a", start, 1))
	})
}

// TestLateTicksAdmitNothingMore is the row of the field's faults: 10 per window, full, then a
// thousand times one event late and one in time.
func TestLateTicksAdmitNothingMore(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, late := range []tallyring.Tick{
			1, tallyring.Tick(window) / 10, tallyring.Tick(window), start, start + 1, math.MaxInt64,
		} {
			l := k.build(t, 10)
			passed := admitted(l, "a", start, 10)
			for range 1000 {
				passed += admitted(l, "a", start-late, 1) + admitted(l, "a", start, 1)
			}
			require.Equal(t, 10, passed, "late by %d", late)
			require.EqualValues(t, 10, l.PeekAt("a", start-late).High)
		}
	})
}

// TestALateEventIsCountedInTheNewestBucket takes an event late and gives back what its decision
// names.
func TestALateEventIsCountedInTheNewestBucket(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		now := start + 7
		require.True(t, l.AllowAt("a", now, 1))
		d := l.TakeAt("a", start-tallyring.Tick(window)/2, 9)
		require.True(t, d.Allowed)
		if k.slots == 0 {
			require.Equal(t, now, d.At)
		} else {
			require.Equal(t, start, d.At)
		}
		require.False(t, l.AllowAt("a", now, 1))
		l.RefundAt("a", d.At, 9)
		require.EqualValues(t, 1, l.PeekAt("a", now).High)
	})
}

// TestIdleGaps counts, then reads after gaps around a window, of hours and of ten years, and past
// where a count of milliseconds in 32 bits begins again.
func TestIdleGaps(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		length := tallyring.Tick(window)
		for _, gap := range []tallyring.Tick{
			0, length - 1, length, length + 1, 2*length - 1, 2 * length, 10 * length,
			tallyring.Tick(10 * time.Hour), tallyring.Tick(tallyring.MaxLength),
			1 << 31 * tallyring.Tick(time.Millisecond), 1 << 32 * tallyring.Tick(time.Millisecond),
		} {
			for _, at := range []tallyring.Tick{start, start + 1, start + length - 1} {
				l, m := k.build(t, 7), newModel(k, 7)
				require.True(t, l.AllowAt("a", at, 7))
				require.True(t, m.allow("a", at, 7))
				require.Equal(t, m.read("a", at+gap), l.PeekAt("a", at+gap), "%d after %d", gap, at)
				want := 0
				for m.allow("a", at+gap, 1) {
					want++
				}
				require.Equal(t, want, admitted(l, "a", at+gap, 8), "%d after %d", gap, at)
				if gap >= 2*length {
					require.Equal(t, 7, want, "nothing is left of the first events")
				}
			}
		}
	})
}

// TestABigLimitDrainedIsFullAfterIdling is the overflow of the field's faults: 980 million.
func TestABigLimitDrainedIsFullAfterIdling(t *testing.T) {
	const limit = 980_000_000
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, limit)
		require.True(t, l.AllowAt("a", start, limit))
		require.False(t, l.AllowAt("a", start, 1))
		d := l.TakeAt("a", start+tallyring.Tick(2*window), 0)
		require.EqualValues(t, limit, d.Remaining)
		require.True(t, l.AllowAt("a", start+tallyring.Tick(2*window), limit))
	})
}

// TestCountsSaturateAndStay drives one key past what a count holds, under no limit. Every finite
// limit is then exceeded, a refund does nothing, and the keys beside it count on.
func TestCountsSaturateAndStay(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, tallyring.Unlimited, limiter.WithKeys(2))
		require.True(t, l.AllowAt("b", start, 3))
		for range 3 {
			d := l.TakeAt("a", start, 1<<63)
			require.True(t, d.Allowed)
			require.Equal(t, tallyring.Unlimited, d.Remaining)
		}
		require.True(t, l.AllowAt("a", start, math.MaxUint64))
		for _, limit := range []uint64{1, 100, l.MaxLimit(), math.MaxUint64 - 1} {
			limit = min(limit, math.MaxUint64-1)
			if l.SetLimit(limit) == nil {
				require.False(t, l.AllowAt("a", start, 1), "limit %d", limit)
				require.Zero(t, l.TakeAt("a", start, 1).Remaining)
			}
		}
		l.RefundAt("a", start, math.MaxUint64)
		require.False(t, l.AllowAt("a", start, 1), "a refund on a saturated count does nothing")
		require.EqualValues(t, 3, l.PeekAt("b", start).High, "the neighbour")
		require.True(t, l.AllowAt("a", start+tallyring.Tick(2*window), 1), "time heals")
	})
}

// TestRetryAfterIsExact takes what is denied again, at the tick that the denial named and one
// nanosecond before, with events at many places in their buckets.
func TestRetryAfterIsExact(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		waited := 0
		for offset := tallyring.Tick(1); offset < tallyring.Tick(window); offset = offset*3 + 1 {
			for cost := uint64(1); cost <= 10; cost++ {
				l := k.build(t, 10, limiter.WithKeys(1))
				require.True(t, l.AllowAt("a", start+offset, 4))
				require.True(t, l.AllowAt("a", start+offset+17, 6))
				now := start + offset + 99
				d := l.TakeAt("a", now, cost)
				require.False(t, d.Allowed)
				at := now + tallyring.Tick(d.RetryAfter)
				require.False(t, l.AllowAt("a", at-1, cost), "%d cost %d", offset, cost)
				require.True(t, l.AllowAt("a", at, cost), "%d cost %d", offset, cost)
				waited++
			}
		}
		require.Greater(t, waited, 100)
	})
}

// TestARefundGoesWhereItWasCounted refunds an old event after newer ones: what is left must leave
// the window when the newer ones do.
func TestARefundGoesWhereItWasCounted(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		old := l.TakeAt("a", start-1, 4)
		newer := l.TakeAt("a", start+1, 3)
		l.RefundAt("a", old.At, 4)
		want := newModel(k, 10)
		require.True(t, want.allow("a", start+1, 3))
		later := start + tallyring.Tick(window)
		for _, now := range []tallyring.Tick{start + 1, start + 2, later - 1, later, later + 1} {
			require.InDelta(t, want.read("a", now).Estimate, l.PeekAt("a", now).Estimate, 1e-9)
			require.Equal(t, want.read("a", now).High, l.PeekAt("a", now).High)
		}
		l.RefundAt("a", old.At, 4)
		l.RefundAt("b", start, 4)
		l.RefundAt("a", -5, 4)
		l.RefundAt("a", start+tallyring.Tick(window)*3, 4)
		require.EqualValues(t, 3, l.PeekAt("a", start+1).High, "nothing there to take back")
		l.RefundAt("a", newer.At, 1)
		require.EqualValues(t, 2, l.PeekAt("a", start+1).High)
		l.RefundAt("a", newer.At, math.MaxUint64)
		require.Zero(t, l.PeekAt("a", start+1).High, "never below 0")
		require.Equal(t, 10, admitted(l, "a", start+1, 11))
	})
}

// TestARefundTooLateIsNone refunds an event that has left the window, after others came.
func TestARefundTooLateIsNone(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		old := l.TakeAt("a", start, 10)
		now := start + tallyring.Tick(2*window)
		require.Equal(t, 10, admitted(l, "a", now, 11))
		l.RefundAt("a", old.At, 10)
		require.False(t, l.AllowAt("a", now, 1))
		require.EqualValues(t, 10, l.PeekAt("a", now).High)
	})
}
