package exphist

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

func mustEvents(t testing.TB, events uint64, eps float64, most uint64, o ...Option) *Events {
	t.Helper()
	e, err := NewEvents(events, eps, most, o...)
	require.NoError(t, err)
	return e
}

// Goal: an event counts while it is one of the last N, and no longer.
// Method: one marked event, then N events that are not, one by one, and at once.
func TestEventIsForgottenWhenItIsNOld(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 7, 8, 1000} {
		one, atOnce := mustEvents(t, n, 0.1, n), mustEvents(t, n, 0.1, n)
		for range 3 {
			one.Add(1)
			atOnce.Add(1)
			for range n - 1 {
				require.Equal(t, uint64(1), one.Read().High)
				one.Add(0)
			}
			atOnce.Skip(n - 1)
			require.Equal(t, 1.0, one.Estimate())
			require.Equal(t, 1.0, atOnce.Estimate())
			one.Skip(1)
			atOnce.Add(0)
			require.Zero(t, one.Read())
			require.Zero(t, atOnce.Read())
		}
		atOnce.Add(1)
		atOnce.Skip(0)
		require.Equal(t, uint64(1), atOnce.Read().High)
		atOnce.Skip(math.MaxUint64)
		require.Zero(t, atOnce.Read())
	}
}

// Goal: of any N events in a row those that passed weigh no more than the limit, also where almost
// all are denied; a peek is no event.
// Method: random costs against a tight limit; the admitted weights in each N, summed plainly.
func TestAllowLimitsAnyNEventsInARow(t *testing.T) {
	const n, limit = 100, 30
	e := mustEvents(t, n, 0.1, limit)
	weights := make([]uint64, 20_000)
	denied, random := 0, newRandom(5)
	for i := range weights {
		peeked := e.Allow(0, limit)
		cost := 1 + random.Uint64N(5)
		if e.Allow(cost, limit) {
			require.True(t, peeked)
			weights[i] = cost
		} else {
			denied++
		}
		sum := uint64(0)
		for _, weight := range weights[max(0, i-n+1) : i+1] {
			sum += weight
		}
		require.LessOrEqual(t, sum, uint64(limit))
		require.Empty(t, misses(e.Read(), sum, 0.1))
	}
	require.Greater(t, denied, 10_000)
	require.Less(t, denied, 19_900, "the window did not move on")
}

// Goal: the edges of cost and limit are those of a Histogram.
// Method: each, and that a denied event is one.
func TestEventsEdges(t *testing.T) {
	e := mustEvents(t, 3, 0.1, 10)
	assert.False(t, e.Allow(1, 0))
	assert.False(t, e.Allow(0, 0))
	assert.False(t, e.Allow(11, 11), "a limit above most decides as most")
	assert.True(t, e.Allow(10, 11))
	assert.False(t, e.Allow(1, 10))
	assert.Equal(t, uint64(10), e.Read().High)
	assert.False(t, e.Allow(1, 10))
	assert.True(t, e.Allow(10, 10), "the third event after the one that filled it")
	e.Add(math.MaxUint64)
	assert.Equal(t, uint64(saturated), e.Read().High)
	assert.False(t, e.Allow(1, 10))
	assert.True(t, e.Allow(1, tallyring.Unlimited))
	assert.Equal(t, uint64(saturated), e.Read().High)
	e.Skip(1)
	assert.Equal(t, uint64(1), e.Read().High, "what did not fit has left")
}

// Goal: numbering the events anew is not felt, not by what did not fit either.
// Method: one event that does not fit just before that, then marked ones: while it is held they do
// not fit either, so that the sum is saturated until the last of those has left.
func TestWhatDidNotFitIsNumberedAnewToo(t *testing.T) {
	const n = 10
	e := mustEvents(t, n, 0.01, 100)
	e.position, e.newest = math.MaxInt64/2-2, math.MaxInt64/2-2
	e.Add(math.MaxUint64)
	for i := range 3 * n {
		want := uint64(saturated)
		if i >= 2*n-1 {
			want = n
		}
		require.Equal(t, want, e.Read().High, "after %d more", i)
		e.Add(1)
	}
	require.Less(t, e.position, int64(1000), "events were not numbered anew")
}
