package tallyring

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// overtake has the stand-in replace {key 0, state 5} by {key 1, state 8}, with something else done
// when it comes to a point for the first time. It returns the pair and whether it was replaced.
func overtake(t *testing.T, at Point, do func(pair *Pair)) (pair *Pair, replaced bool) {
	t.Helper()
	if !Holding {
		t.Skip("the stand-in can be stopped in builds with the tag tallyring_hold alone")
	}
	pair = &Pairs(NewLines(1))[0]
	pair.State.Store(5)
	came := 0
	Watch(func(p Point) {
		if p == at {
			if came++; came == 1 {
				do(pair)
			}
		}
	}, func() int { return 0 })
	defer Watch(nil, nil)
	replaced = pair.compareAndSwapTwin(0, 5, 1, 8)
	require.Positive(t, came, "it never came to the point")
	return pair, replaced
}

func requirePair(t *testing.T, pair *Pair, key, state uint64) {
	t.Helper()
	require.Equal(t, key, pair.Key.Load(), "key")
	require.Equal(t, state, pair.State.Load(), "state")
}

// Goal: the stand-in replaces nothing whose key or state has changed since it looked, and leaves
// the pair as it is then, not latched. Method: another change just before the latch, in one
// goroutine.
func TestPairTwinIsOvertakenBeforeItsLatch(t *testing.T) {
	pair, replaced := overtake(t, PairLatch, func(pair *Pair) {
		require.True(t, pair.compareAndSwapTwin(0, 5, 9, 5), "the key alone, under the same state")
	})
	require.False(t, replaced)
	requirePair(t, pair, 9, 5)

	pair, replaced = overtake(t, PairLatch, func(pair *Pair) {
		require.True(t, pair.State.CompareAndSwap(5, 6))
	})
	require.False(t, replaced)
	requirePair(t, pair, 0, 6)
}

// Goal: from the latch on nobody sees a state that could be taken for a settled one, nor can change
// it, until both words are new.
func TestPairTwinShowsNothingInBetween(t *testing.T) {
	pair, replaced := overtake(t, PairHeld, func(pair *Pair) {
		requirePair(t, pair, 0, PairBusy)
		require.False(t, pair.State.CompareAndSwap(5, 6))
	})
	require.True(t, replaced)
	requirePair(t, pair, 1, 8)
}
