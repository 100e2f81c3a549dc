package pertcore

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// overtake has act done on the P of shard 0, with something else done when it comes to a point for
// the first time.
func overtake(t *testing.T, at tallyring.Point, other, act func()) {
	t.Helper()
	if !tallyring.Holding {
		t.Skip("a decision can be stopped in builds with the tag tallyring_hold alone")
	}
	came := 0
	tallyring.Watch(func(p tallyring.Point) {
		if p == at {
			if came++; came == 1 {
				other()
			}
		}
	}, func() int { return 0 })
	defer tallyring.Watch(nil, nil)
	act()
	require.Positive(t, came, "it never came to the point")
}

// Goal: a decision whose head is of one generation and whose key of the next gives out nothing by
// what the head of the older one left. Method: all shards are used up and closed; a decision that
// has loaded the head is stopped while the generation ends and shared mode begins again with the
// little that is left.
func TestAHeadIsNotTakenWithTheKeyOfTheNextGeneration(t *testing.T) {
	l := sharedLimiter(t, 1, 2)
	c, own := l.look(), &l.shards[1].word
	require.True(t, l.decide(&l.shards[0].word, 1, 400).allowed)
	require.True(t, l.decide(own, 1, 490).allowed)
	require.Equal(t, c, l.look(), "both must be spent from shares")
	for i := range l.shards {
		_, ok := l.closeShard(&l.shards[i].word, c.generation())
		require.True(t, ok)
	}
	var v verdict
	overtake(t, tallyring.LimiterKey, func() {
		l.fold(c, 0)
		require.True(t, l.decide(&l.shards[0].word, 1, 1).allowed)
		require.Equal(t, c.generation()+1, l.look().generation())
		require.False(t, l.look().exact(), "shared mode must have begun again")
	}, func() { v = l.decide(own, 1, 40) })
	require.False(t, v.allowed)
	require.Equal(t, uint64(991), l.Read(1).High)
	restIs(t, l, 1, 9)
}

// Goal: the short decision spends nothing in a later generation by what an older one left, though
// the low bits of both are the same. Method: a decision that has loaded its shard is stopped while
// eight generations end, in which nearly all of the limit is used, and in the last of which its
// shard is open.
func TestAShardIsNotSpentByAHeadOfLongAgo(t *testing.T) {
	l := sharedLimiter(t, 1, 2)
	require.True(t, l.decide(&l.shards[0].word, 1, 1).allowed)
	began := l.look()
	require.Zero(t, began.head&weightedMark)
	var allowed bool
	overtake(t, tallyring.LimiterLooked, func() {
		for range 8 {
			require.True(t, l.decide(&l.shards[1].word, 1, 20).allowed)
			l.fold(l.look(), 0)
			require.True(t, l.decide(&l.shards[0].word, 1, 80).allowed)
		}
		require.True(t, l.decide(&l.shards[0].word, 1, 1).allowed)
		now := l.look()
		require.Equal(t, began.generation()+8, now.generation())
		require.Zero(t, (now.head^began.head)>>(64-modeBits), "the two must look alike")
		require.True(t, l.isStamp(l.shards[0].word.Load(), now.generation()))
	}, func() { allowed = l.Allow(1, 300) })
	require.False(t, allowed)
	require.Equal(t, uint64(100+1+8*100+1), l.Read(1).High)
	restIs(t, l, 1, 98)
}

// Goal: contention is never an error: a decision that others overtake again and again is made in
// the end. Method: whenever an event is about to be counted, another is counted, a thousand times.
func TestADecisionThatIsOvertakenAThousandTimesIsMade(t *testing.T) {
	if !tallyring.Holding {
		t.Skip("a decision can be stopped in builds with the tag tallyring_hold alone")
	}
	l, err := NewLimiter(tallyring.Window{Slots: 2, Width: 1e9}, 2000)
	require.NoError(t, err)
	overtaken, inside := uint64(0), false
	tallyring.Watch(func(p tallyring.Point) {
		if p == tallyring.LimiterCount && !inside && overtaken < 1000 {
			overtaken, inside = overtaken+1, true
			l.Observe(1, 1)
			inside = false
		}
	}, func() int { return 0 })
	defer tallyring.Watch(nil, nil)
	for range 3 { // the first leads to exact mode, where all count in the center
		require.True(t, l.Allow(1, 1))
	}
	require.Equal(t, uint64(1000), overtaken)
	require.Equal(t, uint64(1003), l.Read(1).High)
}
