package held

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// needStandIn skips a test where the pair's swap cannot be stopped halfway. With -race or purego it
// can.
func needStandIn(t testing.TB) {
	if tallyring.PairLockFree() {
		t.Skip("the pair's swap is one instruction here")
	}
}

// TestHitsNeverWaitForAPair stops an inserter inside of the stand-in, with the cell latched. Hits
// of other keys in the same group go on; an insertion over the same cell waits, and goes on when
// the first one has.
func TestHitsNeverWaitForAPair(t *testing.T) {
	needStandIn(t)
	eachTable(t, func(k keys) {
		require.True(k, k.Allow(k.a, second(begun), 1, limit))
		require.True(k, k.Allow(k.b, second(begun), 1, limit))
		require.True(k, k.Allow(k.b, second(k.end), 1, limit))
		inserter := k.actor("the inserter", func() {
			require.True(k, k.Allow(k.c, second(k.end), 1, limit)) // over the cell of a
		}).to(tallyring.PairHeld)
		k.has(k.b, second(k.end), 1)
		waiter := k.actor("the waiter", func() {
			require.True(k, k.Allow(k.d, second(k.end), 1, limit))
		})
		for range 100 {
			waiter.to(tallyring.PairWait)
		}
		inserter.end()
		waiter.end()
		k.has(k.c, second(k.end), 1)
		k.has(k.d, second(k.end), 1)
	})
}

// TestTwoLatchesOfOnePair lets two inserters be about to latch the same cell. The second fails and
// finds another cell.
func TestTwoLatchesOfOnePair(t *testing.T) {
	needStandIn(t)
	bothOrders(t, "one", "the other", func(t *testing.T, oneFirst bool) {
		eachTable(t, func(k keys) {
			one := k.actor("one", func() { require.True(k, k.Allow(k.a, second(begun), 1, limit)) })
			other := k.actor("the other", func() {
				require.True(k, k.Allow(k.b, second(begun), 1,
					limit))
			})
			one.to(tallyring.PairLatch)
			other.to(tallyring.PairLatch)
			if oneFirst {
				one.end()
				other.end()
			} else {
				other.end()
				one.end()
			}
			k.has(k.a, second(begun), 1)
			k.has(k.b, second(begun), 1)
		})
	})
}

// TestLatchAgainstHit takes both orders of a hit and of the latch with which a takeover of its cell
// begins. If the hit is first, the latch fails. If the latch is first, the hit fails, for good.
func TestLatchAgainstHit(t *testing.T) {
	needStandIn(t)
	bothOrders(t, "hit", "latch", func(t *testing.T, hitFirst bool) {
		eachTable(t, func(k keys) {
			require.True(k, k.Allow(k.a, second(begun), 1, limit))
			hit := k.actor("the hit", func() {
				require.True(k, k.Allow(k.a, second(begun), 1,
					limit))
			})
			hit.to(k.hitPoint())
			taker := k.actor("the taker", func() {
				require.True(k, k.Allow(k.b, second(k.end), 1,
					limit))
			})
			taker.to(tallyring.PairLatch)
			if hitFirst {
				hit.end()
				taker.to(tallyring.PairLatch)
			} else {
				taker.to(tallyring.PairHeld)
				hit.wakes(k.look(k.end, k.b))
				require.False(k, hit.done)
			}
			taker.end()
			hit.end()
			k.has(k.a, second(k.end), bit(!hitFirst))
			k.has(k.b, second(k.end), 1)
		})
	})
}

// TestFoldInsideOfAPair stops a fold inside of the stand-in, with the limiter's center latched.
// Decisions that need the center wait, and are exact when the fold has gone on.
func TestFoldInsideOfAPair(t *testing.T) {
	needStandIn(t)
	l := newShared(t, 1)
	count := l.Read(second(begun)).High
	fold := l.actor("the fold", func() { require.NoError(t, l.SetLimit(l.limit)) }).to(
		tallyring.PairHeld)
	var waiters []*actor
	for seat := range l.Shards() {
		waiter := l.seated(seat, "a waiter", func() { require.True(t, l.Allow(second(begun), 1)) })
		for range 100 {
			waiter.to(tallyring.PairWait)
		}
		waiters = append(waiters, waiter)
	}
	fold.end()
	for _, waiter := range waiters {
		waiter.end()
	}
	l.fills(second(begun), count+uint64(l.Shards()))
}
