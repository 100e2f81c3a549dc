package atomicring

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// change is a late change of the bucket before the newest.
type change struct {
	name string
	do   func(s *stage, bucket int)
	more int
}

var changes = []change{
	{"late add", func(s *stage, bucket int) { s.add(bucket, 7) }, 7},
	{"refund", func(s *stage, bucket int) { s.refund(bucket, 2) }, -2},
}

// usable tells whether decisions in the newest bucket can go by the sums.
func (s *stage) usable() bool {
	_, _, ok := s.g.recall(sumsOf(s.words), s.head()&^s.g.maxCount)
	return ok
}

// eachSummed runs a scene on stages that have sums, as fresh and as when a bucket was summed before
// the newest, with each change.
func eachSummed(t *testing.T, scene func(t *testing.T, s *stage, slots, bucket int, c change)) {
	for _, slots := range []int{2, 3, 4, 7, 61} {
		for _, before := range []bool{false, true} {
			for _, c := range changes {
				name := fmt.Sprintf("slots=%d/before=%t/%s", slots, before, c.name)
				t.Run(name, func(t *testing.T) {
					s, bucket := newStage(t, slots, true), newest
					if before {
						require.True(t, s.allow(newest, 1, 1<<20))
						require.True(t, s.usable())
						s.refund(newest, 1)
						bucket++
						s.add(bucket, 5)
					}
					require.False(t, s.usable())
					scene(t, s, slots, bucket, c)
				})
			}
		}
	}
}

// Goal: once a bucket before the newest has been changed late, nobody goes by a sum that lacks the
// change, nor does anybody sum again while the newest bucket lasts. Method: an admission sums, then
// the change is made, then others are admitted.
func TestALateChangeEndsTheUseOfTheSums(t *testing.T) {
	eachSummed(t, func(t *testing.T, s *stage, _, bucket int, c change) {
		require.True(t, s.allow(bucket, 1, 1<<20))
		require.True(t, s.usable())
		held := s.read(bucket)
		c.do(s, bucket-1)
		require.False(t, s.usable())
		require.Equal(t, held+uint64(c.more), s.read(bucket))
		require.True(t, s.allow(bucket, 1, 1<<20))
		require.False(t, s.usable(), "summed a second time")
	})
}

// Goal: who has read the slots before a late change stores no sum of them after it. Method: the
// steps of sum by hand, with the change between the slots and the store.
func TestASumOfOldSlotsIsNotStored(t *testing.T) {
	eachSummed(t, func(t *testing.T, s *stage, _, bucket int, c change) {
		sums, head := sumsOf(s.words), s.g.Head(uint64(bucket))
		old := [2]uint64{sums[0].Load(), sums[1].Load()}
		between, oldest := s.g.tally(s.words, uint64(bucket), 0)
		c.do(s, bucket-1)
		for i, count := range [2]uint64{between, oldest} {
			sums[i].CompareAndSwap(old[i], head|s.g.sealed|count)
		}
		require.False(t, s.usable())
		s.g.sum(s.words, uint64(bucket))
		require.False(t, s.usable(), "summed after it was spoiled")
	})
}

// Goal: a late change of a bucket that nobody has summed yet spoils the sums as well. Method: the
// change first, then an admission, which would sum.
func TestAChangeBeforeTheFirstSumPreventsIt(t *testing.T) {
	eachSummed(t, func(t *testing.T, s *stage, slots, bucket int, c change) {
		held := s.read(bucket)
		c.do(s, bucket-1)
		require.True(t, s.allow(bucket, 1, 1<<20))
		require.False(t, s.usable())
		require.Equal(t, held+uint64(c.more)+1, s.read(bucket))
		s.add(bucket+1, 1)
		require.True(t, s.allow(bucket+1, 1, 1<<20))
		require.True(t, s.usable(), "the next bucket is summed again")
	})
}
