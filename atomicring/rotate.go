package atomicring

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// slot returns the word in which bucket index lies once it is older than the newest.
func (g *Tagged) slot(words []atomic.Uint64, index uint64) *atomic.Uint64 {
	return &words[g.first+index%(g.slots-1)]
}

// rotate moves the head, whose bucket is from, on to the bucket to, or does what part of that is
// left to do. A head that counts nothing has nothing to carry, nor has a window of one slot.
func (g *Tagged) rotate(words []atomic.Uint64, head, from, to uint64) {
	if g.slots > 1 && head&g.maxCount != 0 {
		if head&g.sealed == 0 {
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.RingSeal)
			}
			if !words[0].CompareAndSwap(head, head|g.sealed) {
				return
			}
			head |= g.sealed
		}
		g.Carry(words, head, from, head&g.maxCount)
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingMove)
	}
	words[0].CompareAndSwap(head, g.Head(to))
}

// Carry copies the sealed count of bucket from into its slot, over an older tag only; sealed is the
// whole of word 0. A tag that looks newer while the head is still sealed is none, but one from so
// long ago that its distance has wrapped: a newer one is written only after the head has moved on,
// and then there is nothing left to copy. It ends because each failure means that a late add or a
// refund has changed the slot, or that the copy is there.
func (g *Tagged) Carry(words []atomic.Uint64, sealed, from, count uint64) {
	slot := g.slot(words, from)
	for {
		held := slot.Load()
		age := g.age(held, from)
		if held != 0 && (age == 0 || age < 0 && words[0].Load() != sealed) {
			return
		}
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingCarry)
		}
		if slot.CompareAndSwap(held, from<<g.indexShift|count) {
			return
		}
	}
}

// age returns how many buckets index lies after the one that the slot's word holds.
func (g *Tagged) age(word, index uint64) int64 {
	return int64(index<<g.indexShift-word>>g.indexShift<<g.indexShift) >> g.indexShift
}
