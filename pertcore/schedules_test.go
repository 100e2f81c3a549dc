package pertcore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// The tests here force, by hand and in one goroutine, the interleavings on which the protocol
// rests: each argument of the form "if this comes first ... if that comes first" in both orders. A
// step is taken with the very functions that decisions are made of.

// sharedLimiter returns a limiter of the given shards in shared mode: 100 of 1000 counted in
// bucket 0.
func sharedLimiter(t *testing.T, slots, shards int) *Limiter {
	l, err := newLimiter(tallyring.Window{Slots: slots, Width: time.Second}, 1000, shards)
	require.NoError(t, err)
	for range 100 {
		require.True(t, l.decide(&l.shards[0].word, 1, 1).allowed)
	}
	require.False(t, l.look().exact())
	return l
}

// restIs asserts that exactly the rest of the limit is admitted, wherever it is asked for.
func restIs(t *testing.T, l *Limiter, now tallyring.Tick, rest uint64) {
	t.Helper()
	admitted := uint64(0)
	for i := 0; l.decide(&l.shards[i&int(l.mask)].word, now, 1).allowed; i++ {
		admitted++
	}
	require.Equal(t, rest, admitted)
}

// TestSpendAndCloseInBothOrders lets a spender stop before its swap. If its shard is closed first
// it fails, for good; if it spends first the close sees what it has spent.
func TestSpendAndCloseInBothOrders(t *testing.T) {
	for _, spendFirst := range []bool{true, false} {
		for _, fresh := range []bool{true, false} { // the shard's first spend, or a later one
			l := sharedLimiter(t, 1, 2)
			shard := &l.shards[1].word
			if !fresh {
				require.True(t, l.decide(shard, 1, 1).allowed)
			}
			word, c := shard.Load(), l.look()
			open, ok := l.opened(word, c.generation())
			require.True(t, ok)
			before := l.Read(1).High
			if spendFirst {
				require.True(t, shard.CompareAndSwap(word, open+3))
				l.fold(c, 0)
				require.Equal(t, before+3, l.look().head&l.ring.CountMask())
			} else {
				used, ok := l.closeShard(shard, c.generation())
				require.True(t, ok)
				require.Equal(t, open&l.ring.CountMask(), used)
				require.False(t, shard.CompareAndSwap(word, open+3))
				l.fold(c, 0)
				require.Equal(t, before, l.look().head&l.ring.CountMask())
				require.False(t, shard.CompareAndSwap(word, open+3), "opened again")
			}
			require.Equal(t, c.generation()+1, l.look().generation())
			restIs(t, l, 1, 1000-l.Read(1).High)
		}
	}
}

// TestStalledCloser stops a closer after each shard, and before its swap, while others fold and
// open generations on. What it closed is of no harm, and its swap fails.
func TestStalledCloser(t *testing.T) {
	for closed := range 5 {
		for _, othersFirst := range []bool{true, false} {
			l := sharedLimiter(t, 1, 4)
			for i := range l.shards {
				require.True(t, l.decide(&l.shards[i].word, 1, 5).allowed)
			}
			c := l.look()
			sum := c.head & l.ring.CountMask()
			for i := range closed {
				used, ok := l.closeShard(&l.shards[i].word, c.generation())
				require.True(t, ok)
				sum += used
			}
			if othersFirst {
				// A spender that meets a closed shard folds, counts exactly, and opens the next.
				for i := range l.shards {
					require.True(t, l.decide(&l.shards[i].word, 1, 1).allowed)
				}
				require.Equal(t, closed > 0, l.look().generation() > c.generation())
				before, moved := state(l), l.look().generation() > c.generation()
				l.fold(c, 0)
				if moved {
					require.Equal(t, before, state(l), "a closer that comes late wrote something")
				}
			} else {
				l.fold(c, 0)
				require.Equal(t, c.generation()+1, l.look().generation())
				if closed == 4 {
					require.Equal(t, sum, l.look().head&l.ring.CountMask())
				}
			}
			restIs(t, l, 1, 1000-l.Read(1).High)
			require.Equal(t, uint64(1000), l.Read(1).High)
		}
	}
}

// TestStaleHeadsSpendNothing gives a spender a word and then lets 1 to 20 generations end, those
// among them whose low bits are the same again: its swap fails. A spender that loads the shard
// before the center is safe; the other order, which no function here has, would spend in a
// generation whose head it never saw.
func TestStaleHeadsSpendNothing(t *testing.T) {
	for ended := 1; ended <= 20; ended++ {
		l := sharedLimiter(t, 1, 2)
		shard := &l.shards[1].word
		word, c := shard.Load(), l.look()
		open, ok := l.opened(word, c.generation())
		require.True(t, ok)
		for range ended {
			l.fold(l.look(), 0)
			require.True(t, l.decide(&l.shards[0].word, 1, 1).allowed)
		}
		require.Equal(t, c.generation()+uint64(ended), l.look().generation())
		require.False(t, shard.CompareAndSwap(word, open+1))
		require.False(t, l.swap(c, c.key, c.head+1))
		before := state(l)
		l.fold(c, 0)
		require.Equal(t, before, state(l))
	}
}

// TestExactHeadsAreNoClosedShards closes a shard in exact mode, as SetLimit does before its swap,
// and stops there: a word and a head of equal generations, both not open. Nothing may be spent from
// it, and no count may be lost.
func TestExactHeadsAreNoClosedShards(t *testing.T) {
	l := sharedLimiter(t, 1, 2)
	l.fold(l.look(), 0)
	c := l.look()
	require.True(t, c.exact())
	for i := range l.shards {
		_, ok := l.closeShard(&l.shards[i].word, c.generation())
		require.True(t, ok)
	}
	require.True(t, l.Allow(1, 1))
	require.Equal(t, uint64(101), l.look().head&l.ring.CountMask(), "spent from a closed shard")
	for i := range l.shards {
		require.Zero(t, l.shards[i].word.Load()&l.ring.CountMask())
	}
	restIs(t, l, 1, 899)
}

// TestExactDecisionsAreOvertakenBySetLimit lets an exact decision sleep through 8 to 24 calls of
// SetLimit, after which the head looks the same again. Its swap fails, because the key does not.
func TestExactDecisionsAreOvertakenBySetLimit(t *testing.T) {
	repeated := 0
	for ended := 1; ended <= 24; ended++ {
		l, err := newLimiter(tallyring.Window{Slots: 1, Width: time.Second}, 3, 2)
		require.NoError(t, err)
		require.True(t, l.Allow(1, 1))
		c := l.look()
		require.True(t, c.exact())
		for range ended {
			require.NoError(t, l.SetLimit(1))
		}
		if l.look().head == c.head {
			repeated++
		}
		v := verdict{center: c, counted: c.plain(), limit: 3}
		l.weigh(&v, 1)
		require.False(t, l.decideExact(&v, 1))
		require.Equal(t, uint64(1), l.Read(1).High)
	}
	require.Equal(t, 3, repeated)
}

// TestTurnsAndSpendersInBothOrders turns the bucket while a shard is open. A fold on its way to a
// turn seals; whoever then comes with an old tick is counted in the next bucket; the carried count
// is the exact one.
func TestTurnsAndSpendersInBothOrders(t *testing.T) {
	for _, spendFirst := range []bool{true, false} {
		l := sharedLimiter(t, 3, 2)
		shard := &l.shards[1].word
		word, c := shard.Load(), l.look()
		open, _ := l.opened(word, c.generation())
		want := uint64(100)
		if spendFirst {
			require.True(t, shard.CompareAndSwap(word, open+7))
			want += 7
		}
		l.fold(c, l.ring.SealMark())
		require.NotZero(t, l.look().head&l.ring.SealMark())
		require.False(t, shard.CompareAndSwap(word, open+7))
		d := l.Take(2, 1)
		require.True(t, d.Allowed)
		require.Equal(t, tallyring.Tick(time.Second), d.At, "a sealed bucket counts no more")
		require.Equal(t, want+1, l.Read(2).High)
		require.Equal(t, want, l.words[1].Load()&l.ring.CountMask())
	}
}

// TestSharesServeNoEarlierTick spends from one shard late in a bucket, where the oldest weighs
// little, and then asks another with an earlier tick in the same bucket, which must be denied as of
// its own tick. A peek likewise.
func TestSharesServeNoEarlierTick(t *testing.T) {
	l, err := newLimiter(tallyring.Window{Slots: 2, Width: time.Second}, 1000, 2)
	require.NoError(t, err)
	for range 900 {
		require.True(t, l.Allow(5e8, 1))
	}
	for range 300 {
		require.True(t, l.decide(&l.shards[0].word, 15e8, 1).allowed)
	}
	require.NotZero(t, l.look().head&weightedMark, "shares must be weighted here")
	require.False(t, l.decide(&l.shards[1].word, 11e8, 0).allowed)
	require.False(t, l.decide(&l.shards[1].word, 11e8, 1).allowed)
	require.True(t, l.decide(&l.shards[1].word, 15e8, 1).allowed)
}
