package pertcore

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestWhatIsRefused gives constructors and SetLimit what no limiter can hold, and reads the errors.
func TestWhatIsRefused(t *testing.T) {
	_, err := NewLimiter(tallyring.Window{Slots: 0, Width: time.Second}, 1)
	require.ErrorContains(t, err, "0 slots")
	_, err = NewCounter(tallyring.Window{Slots: 1, Width: -1})
	require.ErrorContains(t, err, "width")
	l, err := NewLimiter(tallyring.Window{Slots: 1, Width: time.Second}, 5)
	require.NoError(t, err)
	require.ErrorContains(t, l.SetLimit(l.MaxLimit()+1), "pertcore: limit 268435455 is above")
	require.Equal(t, uint64(5), l.Limit())
	require.NoError(t, l.SetLimit(l.MaxLimit()))
	_, err = NewLimiter(tallyring.Window{Slots: 1, Width: time.Second}, l.MaxLimit()+1)
	require.ErrorContains(t, err, "want a lower limit or a larger width")
}

// TestGenerationsLast builds limiters of every width and asserts that a shard's word keeps bits
// enough for its generation, which no test can wait for to wrap.
func TestGenerationsLast(t *testing.T) {
	for width := time.Duration(64); width < tallyring.MaxLength; width *= 2 {
		l, err := newLimiter(tallyring.Window{Slots: 2, Width: width}, 1, 2)
		if err != nil {
			require.Less(t, width, time.Microsecond, err)
			continue
		}
		last := uint64(1)<<22 - 1
		seen := map[uint64]bool{}
		for g := last - 20; g <= last; g++ {
			require.Zero(t, l.stamp(g)&(l.ring.CountMask()|closedMark))
			require.True(t, l.isStamp(closedMark|l.stamp(g)|1, g))
			seen[l.stamp(g)], seen[l.stamp(last-g)] = true, true
		}
		require.Len(t, seen, 42)
	}
}

// TestNothingAllocates runs every verb in every mode, admitted and denied, and counts allocations.
func TestNothingAllocates(t *testing.T) {
	for _, slots := range []int{1, 2, 7, 61} {
		l, err := newLimiter(tallyring.Window{Slots: slots, Width: time.Second}, 100, 2)
		require.NoError(t, err)
		c, err := NewCounter(tallyring.Window{Slots: slots, Width: time.Second})
		require.NoError(t, err)
		now, admitted, denied, folds := tallyring.Tick(0), 0, 0, l.look().generation()
		allocations := testing.AllocsPerRun(100, func() {
			now += tallyring.Tick(time.Second) / 3
			for range 60 {
				if l.Allow(now, 1) {
					admitted++
				}
			}
			d := l.Take(now, 60)
			if !d.Allowed {
				denied++
			}
			l.Refund(d.At, 30)
			_ = l.SetLimit(uint64(100 + admitted%2))
			c.Add(now, 1)
			c.Add(now-tallyring.Tick(time.Second), 1)
			if l.Estimate(now) > float64(l.Read(now).High) || c.Estimate(now) > math.MaxInt64 {
				denied = 0
			}
		})
		require.Zero(t, allocations)
		require.Positive(t, min(admitted, denied))
		require.Greater(t, l.look().generation()-folds, uint64(100))
	}
}

// TestDenialsWriteNothing fills a limiter and asserts that denials leave every word as it is: in
// exact mode all of them, in shared mode those that cannot fit while shares pay.
func TestDenialsWriteNothing(t *testing.T) {
	l, err := newLimiter(tallyring.Window{Slots: 2, Width: time.Second}, 1000, 4)
	require.NoError(t, err)
	for range 600 {
		require.True(t, l.Allow(5e8, 1))
	}
	require.False(t, l.look().exact())
	before := state(l)
	for range 100 {
		require.False(t, l.Allow(5e8, 900))
		require.False(t, l.Allow(1e9, 900)) // in the next bucket, which must not become the newest
		require.False(t, l.Take(5e8, 1001).Allowed)
	}
	require.Equal(t, before, state(l))
	require.Equal(t, tallyring.Tick(5e8), l.Take(5e8, 1).At)
	for range 399 {
		require.True(t, l.Allow(5e8, 1))
	}
	require.False(t, l.Allow(5e8, 1)) // this one may end the last generation
	require.True(t, l.look().exact())
	before = state(l)
	for range 100 {
		require.False(t, l.Allow(5e8, 1))
		require.False(t, l.Allow(1e9, 1))
		require.Equal(t, time.Second/2+time.Second/1000, l.Take(5e8, 1).RetryAfter)
	}
	require.Equal(t, before, state(l))
}
