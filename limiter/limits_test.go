package limiter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// TestSetLimitActsAtOnce raises and lowers the limit of keys that are empty, part-filled and full.
func TestSetLimitActsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 15)
		require.Equal(t, 2, admitted(l, "a", start, 2))
		require.NoError(t, l.SetLimit(1500))
		require.EqualValues(t, 1500, l.Limit())
		require.Equal(t, 1498, admitted(l, "a", start, 2000), "2 of 15 used, then 1500")
		require.NoError(t, l.SetLimit(10))
		require.False(t, l.AllowAt("a", start, 1))
		require.EqualValues(t, 1500, l.PeekAt("a", start).High, "lowering forgets nothing")
		require.Equal(t, 10, admitted(l, "b", start, 20))
		require.NoError(t, l.SetLimit(1501))
		require.Equal(t, 1, admitted(l, "a", start, 20))
		require.NoError(t, l.SetLimit(0))
		require.Equal(t, tallyring.Never, l.TakeAt("b", start, 1).RetryAfter)
		require.NoError(t, l.SetLimit(12))
		require.Equal(t, 2, admitted(l, "b", start, 20))
	})
}

// TestTheSameLimitAgainRefillsNothing is the identical reload of a configuration.
func TestTheSameLimitAgainRefillsNothing(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		require.NoError(t, l.SetKeyLimit(l.Key("b"), 4))
		require.Equal(t, 10, admitted(l, "a", start, 10))
		require.Equal(t, 4, admitted(l, "b", start, 10))
		for range 3 {
			require.NoError(t, l.SetLimit(10))
			require.NoError(t, l.SetKeyLimit(l.Key("b"), 4))
			require.False(t, l.AllowAt("a", start, 1))
			require.False(t, l.AllowAt("b", start, 1))
		}
	})
}

// TestUnlimitedCounts admits everything and still counts, so that a limit set later finds the
// counts.
func TestUnlimitedCounts(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, tallyring.Unlimited)
		require.Equal(t, 40, admitted(l, "a", start, 40))
		d := l.TakeAt("a", start, 1)
		require.Equal(t, tallyring.Decision{Allowed: true, Limit: tallyring.Unlimited,
			Remaining: tallyring.Unlimited, At: start, ResetAfter: d.ResetAfter}, d)
		require.Positive(t, d.ResetAfter)
		require.NoError(t, l.SetLimit(41))
		require.False(t, l.AllowAt("a", start, 1))
		require.NoError(t, l.SetLimit(43))
		require.Equal(t, 2, admitted(l, "a", start, 10))
		require.NoError(t, l.SetLimit(tallyring.Unlimited))
		require.True(t, l.AllowAt("a", start, 1_000))
	})
}

// TestLimitsThatNoCellHoldsAreRefused sets limits above MaxLimit, which must leave the old in
// force.
func TestLimitsThatNoCellHoldsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		most := l.MaxLimit()
		if k.slots == 0 {
			require.Equal(t, tallyring.Unlimited, most, "a log holds any limit")
			require.NoError(t, l.SetLimit(math.MaxUint64-1))
			return
		}
		for _, limit := range []uint64{most + 1, math.MaxUint64 - 1, 1 << 63} {
			for _, err := range []error{l.SetLimit(limit), l.SetKeyLimit(l.Key("a"), limit)} {
				require.ErrorContains(t, err, "limiter: limit ")
				require.ErrorContains(t, err, "want at most that")
				require.NotContains(t, err.Error(), "\n")
			}
		}
		require.EqualValues(t, 10, l.Limit())
		require.Zero(t, l.StatsAt(start).KeyLimits)
		require.Equal(t, 10, admitted(l, "a", start, 20))
		require.NoError(t, l.SetLimit(most))
		d := l.TakeAt("a", start, most-10)
		require.True(t, d.Allowed, "the largest limit holds to the last event")
		require.Zero(t, d.Remaining)
		require.False(t, l.AllowAt("a", start, 1))
	})
}

// TestWithMaxLimitMakesRoomForLaterLimits asks for cells that hold more than the first limit.
func TestWithMaxLimitMakesRoomForLaterLimits(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, most := range []uint64{10, 1 << 16, 1 << 20, 1 << 30, 1<<38 - 2} {
			if k.slots > 2 && most > 1<<30 {
				continue // narrow buckets have long indexes, and leave less to the counts
			}
			l := k.build(t, 10, limiter.WithMaxLimit(most))
			require.GreaterOrEqual(t, l.MaxLimit(), most)
			require.NoError(t, l.SetLimit(most))
			require.True(t, l.AllowAt("a", start, most))
			require.False(t, l.AllowAt("a", start, 1))
			require.EqualValues(t, most, l.PeekAt("a", start).High)
		}
	})
}

// TestAKeyMayHaveItsOwnLimit sets limits of keys above, below and at the common one, and clears
// them.
func TestAKeyMayHaveItsOwnLimit(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 5)
		more, less, none, all := l.Key("more"), l.Key("less"), l.Key("none"), l.Key("all")
		require.NoError(t, l.SetKeyLimit(more, 9))
		require.NoError(t, l.SetKeyLimit(less, 2))
		require.NoError(t, l.SetKeyLimit(none, 0))
		require.NoError(t, l.SetKeyLimit(all, tallyring.Unlimited))
		require.Equal(t, 4, l.StatsAt(start).KeyLimits)
		require.Equal(t, 9, admitted(l, "more", start, 30))
		require.Equal(t, 2, admitted(l, "less", start, 30))
		require.Equal(t, 0, admitted(l, "none", start, 30))
		require.Equal(t, 30, admitted(l, "all", start, 30))
		require.Equal(t, 5, admitted(l, "common", start, 30))
		require.EqualValues(t, 9, l.TakeAt("more", start, 1).Limit)
		require.Equal(t, tallyring.Never, l.TakeAt("none", start, 1).RetryAfter)
		answers := make([]bool, 3)
		l.AllowMany([]limiter.Key{less, all, none}, start, 1, answers)
		require.Equal(t, []bool{false, true, false}, answers)

		require.NoError(t, l.SetLimit(7))
		require.Equal(t, 2, admitted(l, "common", start, 30))
		require.Equal(t, 0, admitted(l, "less", start, 30), "it keeps its own")
		for _, key := range []limiter.Key{more, less, none, all, all, l.Key("unknown")} {
			l.ClearKeyLimit(key)
		}
		require.Zero(t, l.StatsAt(start).KeyLimits)
		require.Equal(t, 0, admitted(l, "more", start, 30))
		require.Equal(t, 5, admitted(l, "less", start, 30), "2 of 7 are used")
		require.Equal(t, 7, admitted(l, "none", start, 30))
		require.Equal(t, 0, admitted(l, "all", start, 30), "30 were counted")
	})
}
