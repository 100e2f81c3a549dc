package atomicring

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// Summed returns the layout with two words more, behind the head, that spare decisions the sum over
// all slots. It needs two slots or more.
//
//	{bucket index | summed | sum of the buckets between the newest and the oldest}
//	{bucket index | summed | count of the oldest bucket}
//
// A sum is that of the window which ends with the bucket of its index, and says nothing once the
// head is in another one. Its index only goes up. For one index it is summed once at most, and
// spoiled for good by the first late add or refund that changes a slot.
//
// A decision that finds the head in bucket e, and then the sums of e, has what it needs. Who summed
// had found the head in e before it read the slots, so all that was carried into them was there.
// After a late change its author spoils the sums of the bucket f in which it then finds the head:
// if f is e, the sum of e is gone before it returns; if f is older, the slots were read after the
// head had left f, and so after the change.
func (g Tagged) Summed() Tagged {
	g.first = 3
	return g
}

// recall returns the sums as of the bucket of an unsealed head that counts nothing, if both are
// there. One that its word could not hold is saturated.
func (g *Tagged) recall(sums *[2]atomic.Uint64, head uint64) (between, oldest uint64, ok bool) {
	head |= g.sealed
	between, oldest = sums[0].Load()^head, sums[1].Load()^head
	return between, oldest, between|oldest < g.sealed
}

// sum stores what the slots count as of bucket index, if the head is in it and nobody has before.
// It reads the sums before the head, and the head before the slots.
func (g *Tagged) sum(words []atomic.Uint64, index uint64) {
	if g.first == 1 {
		return
	}
	sums := sumsOf(words)
	old := [2]uint64{sums[0].Load(), sums[1].Load()}
	if !g.outdated(old[0], index) && !g.outdated(old[1], index) {
		return
	}
	head := g.Head(index)
	if words[0].Load()&^(g.sealed|g.maxCount) != head {
		return
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingSum)
	}
	between, oldest := g.tally(words, index, 0)
	for i, count := range [2]uint64{between, oldest} {
		if g.outdated(old[i], index) {
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.RingStore)
			}
			sums[i].CompareAndSwap(old[i], head|g.sealed|min(count, g.maxCount))
		}
	}
}

// outdated tells whether a sum is of a bucket before index, or was never made.
func (g *Tagged) outdated(sum, index uint64) bool {
	return sum == 0 || g.distance(index, sum>>(g.indexShift&63)) > 0
}

// spoil ends the use of the sums for the bucket that the head is in, after a slot has changed. It
// ends because each failure means that somebody has summed or spoiled.
func (g *Tagged) spoil(words []atomic.Uint64) {
	if g.first == 1 {
		return
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingChanged)
	}
	head := words[0].Load() &^ (g.sealed | g.maxCount)
	if head&^g.keep != 0 {
		return // marked: the ring has got another owner, who counts nothing yet
	}
	index := head >> g.indexShift
	for i := range sumsOf(words) {
		sum := &sumsOf(words)[i]
		for {
			old := sum.Load()
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.RingSpoil)
			}
			if !g.outdated(old, index) && old&^g.maxCount != head|g.sealed ||
				sum.CompareAndSwap(old, head|1) {
				break
			}
		}
	}
}

// sumsOf returns the sums of a ring's words.
func sumsOf(words []atomic.Uint64) *[2]atomic.Uint64 { return (*[2]atomic.Uint64)(words[1:]) }
