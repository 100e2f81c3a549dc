package atomicring

import (
	"math/bits"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// Tagged is the layout of a ring of any number of slots in a row of words, and its protocol. Word 0
// is the head: the newest bucket and its count. The last n-1 words are the slots of older buckets:
// bucket i lies in slot i mod (n-1), and says so by its tag. Summed adds two words in between.
//
//	 63   indexShift    countBits    0
//	{mark?| bucket index | sealed | count}
//
// A caller may keep topmost bits of the head for itself (mark), and then hands in heads in which
// they are 0. The other words never carry marks.
//
// Who may change what:
//
//   - An unsealed head belongs to everyone: a decision moves {e, c} to {e, c+cost}. Success proves
//     that the newest bucket was e all the while.
//   - The mark sealed freezes a head's count, so that it can be copied. If a decision's
//     compare-and-swap comes first, the seal fails and sees the new count. If the seal comes first,
//     the decision fails.
//   - A slot belongs to the bucket of its tag, until a newer bucket of the same slot is copied over
//     it. Late adds and refunds change its count; tags never go back.
//
// Rotation is three compare-and-swaps, each of which anyone can do for anyone: seal the head, copy
// it to its slot over an older tag, move the head on. A goroutine that sleeps through the end of a
// rotation finds its own tag or a newer one in the slot, and another head, and so changes nothing.
//
// A head of word 0 over slots that are all 0 has never counted anything, whatever its index says.
//
// A Tagged is immutable; its methods are safe for concurrent use on words that are shared. The
// words given are those of one ring, Words of them; head is what word 0 held when the caller last
// looked.
type Tagged struct {
	buckets
	limit      uint64 // maxLimit, on the hot line
	sealed     uint64 // 1 << countBits: the mark, which no count reaches
	span       uint64 // (n-1) << indexShift
	keep       uint64 // every bit but the mark: a marked head is in no bucket
	indexMask  uint64 // every bit from the index up
	first      uint64 // the word of the first slot: 1, or 3 behind two sums
	indexShift uint8
	indexTurn  uint8 // a rotation that brings the bits of an index into their place
}

// NewTagged returns the layout for w with markBits of the head kept free on top, or an error where
// a count could not hold 8 bits. It holds limits up to MaxLimit.
func NewTagged(w tallyring.Window, markBits int) (Tagged, error) {
	if err := w.Validate(); err != nil {
		return Tagged{}, err
	}
	countBits := min(63-markBits-indexBits(w.Width), maxCountBits)
	if countBits < minCountBits {
		return Tagged{}, narrow(w, markBits+1, 1)
	}
	g := Tagged{
		buckets:    newBuckets(w, 63-markBits-countBits, countBits),
		sealed:     1 << countBits,
		span:       uint64(w.Slots-1) << (countBits + 1),
		keep:       ^uint64(0) >> markBits,
		first:      1,
		indexShift: uint8(countBits + 1),
	}
	g.indexTurn = (g.indexShift - g.shift) & 63
	g.indexMask = ^uint64(0) >> g.shift << g.indexShift
	g.limit = g.buckets.maxLimit()
	return g, nil
}

// MaxLimit returns the largest limit that a count can hold. A larger finite limit decides as this
// one.
func (g *Tagged) MaxLimit() uint64 { return g.limit }

// CountMask returns the bits of a word that hold its count; all of them set say that it is
// saturated.
func (g *Tagged) CountMask() uint64 { return g.maxCount }

// SealMark returns the bit that seals a head.
func (g *Tagged) SealMark() uint64 { return g.sealed }

// Head returns the word of a head that counts nothing in a bucket.
func (g *Tagged) Head(index uint64) uint64 { return g.stored(index) << g.indexShift }

// Words returns how many words a ring takes.
func (g *Tagged) Words() int { return int(g.first + g.slots - 1) }

// IndexShift returns the number of bits below the bucket index.
func (g *Tagged) IndexShift() uint { return uint(g.indexShift) }

// Index returns the bucket of now, as stored: modulo the range of the layout.
func (g *Tagged) Index(now tallyring.Tick) uint64 {
	index, _ := g.at(now)
	return g.stored(index)
}

// Expired tells whether every count under head has left the window at now.
func (g *Tagged) Expired(head uint64, now tallyring.Tick) bool {
	index, _ := g.at(now)
	return g.distance(index, head>>(g.indexShift&63)) >= int64(g.slots)
}

// Try decides on an event at now, from loads alone; only when the limit admits it, it counts it, or
// rotates the ring toward now and says Again. A denial is what the head given said, if that was
// still the head when Try began.
func (g *Tagged) Try(
	words []atomic.Uint64, head uint64, now tallyring.Tick, cost, limit uint64,
) Verdict {
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingLooked)
	}
	count, last := g.Near(head, now)
	if !g.Plain(count, cost, limit) {
		return g.trySlow(words, head, now, cost, limit)
	}
	if count+cost > limit {
		return Denied
	}
	if g.first == 1 {
		if count+cost+g.Older(words[1:], last) > limit {
			return g.tryTallied(words, head, now, count, cost, limit)
		}
	} else {
		between, oldest, ok := g.recall(sumsOf(words), head-count)
		if !ok {
			return g.trySlow(words, head, now, cost, limit)
		}
		full := count + cost + between
		if full > limit {
			return unchanged(words, head, Denied)
		}
		if full+oldest > limit {
			return g.tryWeighed(words, head, now, cost, oldest, limit-full)
		}
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingCount)
	}
	if words[0].CompareAndSwap(head, head+cost) {
		return Admitted
	}
	return Again
}

// tryTallied is Try in the newest bucket where the sum of all slots is above the limit.
func (g *Tagged) tryTallied(
	words []atomic.Uint64, head uint64, now tallyring.Tick, count, cost, limit uint64,
) Verdict {
	index, _ := g.at(now)
	between, oldest := g.tally(words, index, 0)
	full := count + cost + between
	if full > limit {
		return unchanged(words, head, Denied)
	}
	return g.tryWeighed(words, head, now, cost, oldest, limit-full)
}

// tryWeighed is Try in the newest bucket, of which the older ones leave room for the oldest.
func (g *Tagged) tryWeighed(
	words []atomic.Uint64, head uint64, now tallyring.Tick, cost, oldest, room uint64,
) Verdict {
	if oldest > room && !g.weighs(oldest, now, room) {
		return unchanged(words, head, Denied)
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingCount)
	}
	if words[0].CompareAndSwap(head, head+cost) {
		return Admitted
	}
	return Again
}

// Plain tells whether the sums of counts decide: the head, of which count is what is left, is in
// its newest bucket and not sealed, the layout holds the limit, and the cost is 1 to limit.
func (g *Tagged) Plain(count, cost, limit uint64) bool {
	return count < g.sealed && limit <= g.limit && cost-1 < limit
}

// Near returns what is left of head if its bucket is that of now and it is not sealed, its count,
// and otherwise a value for which Plain is false; and what Older takes for the bucket of now.
func (g *Tagged) Near(head uint64, now tallyring.Tick) (count, last uint64) {
	base := g.base(now)
	return head ^ base&g.keep, base - 1
}

// base returns the word of an empty bucket at now. Where an older bucket's word is w, base-1-w is
// less than (n-1)<<indexShift if and only if w counts something in the window: the difference of
// the indexes is what is left above indexShift, and the count, at least 1, borrows from it.
func (g *Tagged) base(now tallyring.Tick) uint64 {
	high, _ := bits.Mul64(g.reciprocal, uint64(max(now, 0)))
	return bits.RotateLeft64(high, int(g.indexTurn)) & g.indexMask
}

// Older returns the sum of the slots that count in the window which ends at the bucket of last+1,
// the oldest whole. It has no branch that depends on what it loads, and takes three slots at a
// time: with six, the compiler runs out of registers.
func (g *Tagged) Older(slots []atomic.Uint64, last uint64) (sum uint64) {
	span, mask := g.span, g.sealed-1
	for len(slots) >= 3 {
		three := (*[3]atomic.Uint64)(slots)
		sum += inside(three[0].Load(), last, span, mask)
		sum += inside(three[1].Load(), last, span, mask)
		sum += inside(three[2].Load(), last, span, mask)
		slots = slots[3:]
	}
	for i := range slots {
		sum += inside(slots[i].Load(), last, span, mask)
	}
	return sum
}

// inside returns the count of word if its bucket lies in the span that ends with last, and else 0.
func inside(word, last, span, mask uint64) uint64 {
	count := word & mask
	if last-word >= span {
		count = 0
	}
	return count
}

// unchanged returns verdict if the head is still what the decision saw, which has no
// compare-and-swap to prove it.
func unchanged(words []atomic.Uint64, head uint64, verdict Verdict) Verdict {
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingConfirm)
	}
	if words[0].Load() != head {
		return Again
	}
	return verdict
}

// trySlow is Try for every case but a positive cost in the newest bucket, not sealed, under a
// finite limit.
func (g *Tagged) trySlow(
	words []atomic.Uint64, head uint64, now tallyring.Tick, cost, limit uint64,
) Verdict {
	_, _, verdict := g.weighed(words, head, now, cost, limit)
	return verdict
}

// weighed is Try, with what it weighed before the event.
func (g *Tagged) weighed(
	words []atomic.Uint64, head uint64, now tallyring.Tick, cost, limit uint64,
) (Standing, uint64, Verdict) {
	limit = g.Clamp(limit)
	s, ahead := g.Standing(words, head, now)
	admitted := limit == tallyring.Unlimited ||
		limit > 0 && g.Fits(s, cost, limit)
	switch {
	case !admitted:
		return s, ahead, unchanged(words, head, Denied)
	case cost == 0:
		return s, ahead, unchanged(words, head, Admitted)
	case ahead > 0:
		g.rotate(words, head, s.Index-ahead, s.Index)
		return s, ahead, Again
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingCount)
	}
	if words[0].CompareAndSwap(head, g.counted(head, cost)) {
		g.sum(words, s.Index)
		return s, ahead, Admitted
	}
	return s, ahead, Again
}

// Standing returns the counts as of the bucket of now or, where that is late, of the head's, and
// how many buckets that lies ahead of the head. A sealed head is on its way to the next bucket at
// least, and its oldest slot may be overwritten already: it counts as if it had arrived.
func (g *Tagged) Standing(
	words []atomic.Uint64, head uint64, now tallyring.Tick,
) (s Standing, ahead uint64) {
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingLooked)
	}
	s.Index, s.Elapsed = g.at(now)
	distance := g.distance(s.Index, head>>(g.indexShift&63))
	switch {
	case distance < 0 && head == 0 && unused(words):
		return s, g.slots
	case distance < 0:
		s.Index, s.Elapsed, distance = s.Index-uint64(distance), 0, 0
	}
	if distance == 0 && head&g.sealed != 0 {
		s.Index, s.Elapsed, distance = s.Index+1, 0, 1
	}
	ahead = uint64(distance)
	if ahead >= g.slots {
		return s, ahead
	}
	s.Full, s.Oldest = g.older(words, s.Index, ahead)
	if ahead > 0 && ahead == g.slots-1 {
		s.Oldest = head & g.maxCount
	} else {
		s.Full += head & g.maxCount
	}
	return s, ahead
}

// older is tally, where it can from the sums.
func (g *Tagged) older(words []atomic.Uint64, index, ahead uint64) (full, oldest uint64) {
	if ahead == 0 && g.first != 1 {
		full, oldest, ok := g.recall(sumsOf(words), g.Head(index))
		if ok && full != g.maxCount {
			return full, oldest
		}
	}
	return g.tally(words, index, ahead)
}

// tally sums the slots as of bucket index, which lies ahead buckets after the head's: those older
// than the head that are still in the window, and the oldest apart.
func (g *Tagged) tally(words []atomic.Uint64, index, ahead uint64) (full, oldest uint64) {
	last := g.slots - 1
	if ahead >= last {
		return 0, 0
	}
	base, mask, shift := index<<g.indexShift, g.sealed-1, g.indexShift&63
	for i := int(g.first); i < len(words); i++ {
		full += inside(words[i].Load(), base-ahead<<shift-1, (last-1-ahead)<<shift, mask)
	}
	eldest := g.slot(words, index).Load()
	return full, inside(eldest, base-(last-1)<<shift-1, 1<<shift, mask)
}

// counted returns head with more counted.
func (g *Tagged) counted(head, more uint64) uint64 {
	return head&^g.maxCount | g.saturating(head&g.maxCount, more)
}

// unused tells whether nothing was ever counted in words.
func unused(words []atomic.Uint64) bool {
	for i := range words {
		if words[i].Load() != 0 {
			return false
		}
	}
	return true
}

// stored reduces a bucket index to the bits that a word keeps of it.
func (g *Tagged) stored(index uint64) uint64 { return index << g.far >> g.far }

// TryAdd counts without deciding, in the bucket of now. Denied says that this bucket has left the
// ring.
func (g *Tagged) TryAdd(
	words []atomic.Uint64, head uint64, now tallyring.Tick, count uint64,
) Verdict {
	s, ahead := g.Standing(words, head, now)
	index, _ := g.at(now)
	behind := s.Index - index
	switch {
	case behind >= g.slots:
		return unchanged(words, head, Denied)
	case count == 0:
		return unchanged(words, head, Admitted)
	case ahead > 0:
		g.rotate(words, head, s.Index-ahead, s.Index)
		return Again
	case behind > 0:
		return g.addLate(words, head, index, count)
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingCount)
	}
	if words[0].CompareAndSwap(head, g.counted(head, count)) {
		return Admitted
	}
	return Again
}

// addLate counts in the slot of bucket index, older than the newest: over an older tag if the slot
// holds one. A newer tag says that the ring has turned meanwhile, unless the head has not changed:
// then it only looks newer, as in Carry.
func (g *Tagged) addLate(words []atomic.Uint64, head, index, count uint64) Verdict {
	slot := g.slot(words, index)
	held := slot.Load()
	var sum uint64
	switch age := g.age(held, index); {
	case age == 0:
		sum = g.saturating(held&g.maxCount, count)
	case age > 0 || held == 0 || words[0].Load() == head:
		sum = g.saturating(0, count)
	default:
		return Again
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingLate)
	}
	if slot.CompareAndSwap(held, index<<g.indexShift|sum) {
		g.spoil(words)
		return Admitted
	}
	return Again
}

// TryRefund takes back what was counted at the tick at. Denied says that there is nothing to take
// back: the bucket has left the ring, was never counted in, or is saturated.
func (g *Tagged) TryRefund(
	words []atomic.Uint64, head uint64, at tallyring.Tick, count uint64,
) Verdict {
	index, _ := g.at(at)
	ahead := g.distance(index, head>>g.indexShift)
	if count == 0 || ahead > 0 || -ahead >= int64(g.slots) {
		return Denied
	}
	if head&g.sealed != 0 {
		newest := index - uint64(ahead)
		g.rotate(words, head, newest, newest+1)
		return Again
	}
	word, held := &words[0], head
	if ahead < 0 {
		word = g.slot(words, index)
		held = word.Load()
		if g.age(held, index) != 0 {
			return Denied
		}
	}
	left := g.refunded(held&g.maxCount, count)
	if left == held&g.maxCount {
		return Denied
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingRefund)
	}
	if !word.CompareAndSwap(held, held&^g.maxCount|left) {
		return Again
	}
	if ahead < 0 {
		g.spoil(words)
	}
	return Admitted
}
