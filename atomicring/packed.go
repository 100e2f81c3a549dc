package atomicring

import (
	"fmt"
	"math/bits"

	"github.com/tallyring/tallyring"
)

// Packed is the layout of a whole ring of one or two slots in one word, and its transitions, which
// are pure: the caller owns the word, and replaces it by compare-and-swap.
//
//	 63   indexShift      countBits        0
//	{mark?| bucket index | previous count | current count}       two slots
//	{mark?| bucket index                  | current count}       one slot
//
// The index is on top, so that adding a cost to the word adds it to the current count; counts
// saturate before they carry. A caller may keep the topmost bit for itself (mark), and then hands
// in words in which it is 0. Word 0 has never counted anything, whatever its index says.
//
// A Packed is immutable and safe for concurrent use.
type Packed struct {
	buckets
	limit        uint64 // maxLimit, on the hot line
	newer        uint64 // 1 << indexShift: no counts reach this far
	previousMask uint64 // 0 where there is one slot
	indexMask    uint64 // the bits of the index; a mark is in no bucket
	indexShift   uint8
	countBits    uint8
	indexTurn    uint8 // a rotation that brings the bits of an index into their place
}

// NewPacked returns the layout for w with markBits (0 or 1) kept free on top, or an error where w
// has more than two slots, or where a count could not hold 8 bits. It holds limits up to MaxLimit.
func NewPacked(w tallyring.Window, markBits int) (Packed, error) {
	if err := w.Validate(); err != nil {
		return Packed{}, err
	}
	if w.Slots > 2 {
		return Packed{}, fmt.Errorf("atomicring: window has %d slots, "+
			"want 1 or 2 for the packed form", w.Slots)
	}
	countBits := min((64-markBits-indexBits(w.Width))/w.Slots, maxCountBits)
	if countBits < minCountBits {
		return Packed{}, narrow(w, markBits, w.Slots)
	}
	indexShift := countBits * w.Slots
	p := Packed{
		buckets:    newBuckets(w, 64-markBits-indexShift, countBits),
		indexShift: uint8(indexShift),
		countBits:  uint8(countBits),
		newer:      1 << indexShift,
	}
	p.indexTurn = (p.indexShift - p.shift) & 63
	p.indexMask = ^uint64(0) >> p.shift << indexShift << markBits >> markBits
	p.limit = p.buckets.maxLimit()
	if w.Slots == 2 {
		p.previousMask = p.maxCount
	}
	return p, nil
}

// MaxLimit returns the largest limit that a count can hold. A larger finite limit decides as this
// one.
func (p *Packed) MaxLimit() uint64 { return p.limit }

// IndexShift returns the number of bits below the bucket index.
func (p *Packed) IndexShift() uint { return uint(p.indexShift) }

// Index returns the bucket of now, as stored: modulo the range of the layout.
func (p *Packed) Index(now tallyring.Tick) uint64 {
	index, _ := p.at(now)
	return p.stored(index)
}

// Expired tells whether every count of word has left the window at now.
func (p *Packed) Expired(word uint64, now tallyring.Tick) bool {
	index, _ := p.at(now)
	return p.distance(index, word>>(p.indexShift&63)) >= int64(p.slots)
}

// Counts returns the counts of word if its bucket is that of now, which must not be negative, and
// otherwise a value for which Newest is false. Counts, Newest, Sums and Plain make the shortest
// decision, in parts that inline.
func (p *Packed) Counts(word uint64, now tallyring.Tick) uint64 {
	high, _ := bits.Mul64(p.reciprocal, uint64(now))
	return word ^ bits.RotateLeft64(high, int(p.indexTurn))&p.indexMask
}

// Newest tells whether counts are those of a word in its newest bucket.
func (p *Packed) Newest(counts uint64) bool { return counts < p.newer }

// Sums returns what is counted after an event of the given cost, without the oldest bucket and with
// the whole of it. Where full is above the limit the event is denied, whatever its cost and its
// limit: a sum that wraps does so for a cost that no count holds. Where high is not above a limit
// that is Plain, it is admitted by adding cost to the word. Otherwise Next must tell.
func (p *Packed) Sums(counts, cost uint64) (full, high uint64) {
	full = counts&p.maxCount + cost
	return full, full + counts>>(p.countBits&63)
}

// Plain tells whether the layout holds the limit, and the cost is 1 to limit.
func (p *Packed) Plain(cost, limit uint64) bool {
	return limit <= p.limit && cost-1 < limit
}

// Next decides on an event at now. It returns the word that counts it and true, or word itself and
// false where the event is denied. It returns word itself and true for an event of cost 0 that the
// limit would admit.
func (p *Packed) Next(word uint64, now tallyring.Tick, cost, limit uint64) (uint64, bool) {
	if now < 0 || !p.Plain(cost, limit) {
		return p.next(word, now, cost, limit)
	}
	if counts := p.Counts(word, now); p.Newest(counts) {
		full, high := p.Sums(counts, cost)
		if full > limit || high > limit && !p.weighs(high-full, now, limit-full) {
			return word, false
		}
		return word + cost, true
	}
	index, elapsed := p.at(now)
	if p.distance(index, word>>(p.indexShift&63)) != 1 {
		return p.next(word, now, cost, limit)
	}
	oldest, room := word&p.previousMask, limit-cost
	if oldest > room && (!p.weighable(oldest) || !p.fitsIn(oldest, elapsed, room)) {
		return word, false
	}
	return p.stored(index)<<(p.indexShift&63) | oldest<<(p.countBits&63) | cost, true
}

// next is Next for a tick and a limit of any kind, and for any distance between the buckets.
func (p *Packed) next(word uint64, now tallyring.Tick, cost, limit uint64) (uint64, bool) {
	limit = p.Clamp(limit)
	s := p.standing(word, now)
	if limit == tallyring.Unlimited {
		return p.pack(word, s, p.saturating(s.Full, cost), cost), true
	}
	if limit == 0 || !p.Fits(s, cost, limit) {
		return word, false
	}
	return p.pack(word, s, s.Full+cost, cost), true
}

// pack returns the word for s with another current count, or word where the cost was 0.
func (p *Packed) pack(word uint64, s Standing, current, cost uint64) uint64 {
	if cost == 0 {
		return word
	}
	return p.stored(s.Index)<<p.indexShift | s.Oldest<<p.countBits | current
}

// stored reduces a bucket index to the bits that a word keeps of it.
func (p *Packed) stored(index uint64) uint64 { return index << p.far >> p.far }

// standing returns the counts of word as of the bucket of now or, where that is late, of word's.
func (p *Packed) standing(word uint64, now tallyring.Tick) Standing {
	index, elapsed := p.at(now)
	current, previous := word&p.maxCount, word>>p.countBits&p.previousMask
	ahead := p.distance(index, word>>p.indexShift)
	switch {
	case word == 0 || ahead > 1:
		return Standing{Index: index, Elapsed: elapsed}
	case ahead == 1:
		return Standing{Index: index, Elapsed: elapsed, Oldest: current & p.previousMask}
	case ahead < 0:
		return Standing{Index: index - uint64(ahead), Full: current, Oldest: previous}
	}
	return Standing{Index: index, Elapsed: elapsed, Full: current, Oldest: previous}
}

// Take is Next with the whole answer.
func (p *Packed) Take(
	word uint64, now tallyring.Tick, cost, limit uint64,
) (uint64, tallyring.Decision) {
	limit = p.Clamp(limit)
	next, allowed := p.Next(word, now, cost, limit)
	s := p.standing(word, now)
	if allowed {
		s.Full = p.saturating(s.Full, cost)
	}
	var retry uint64
	if !allowed && !hopeless(cost, limit) {
		retry = p.retry(s, cost, limit)
	}
	return next, p.decision(s, now, cost, limit, allowed, retry, p.empty(s))
}

// retry returns the first tick at which s admits cost, which is at most limit, if nothing comes.
func (p *Packed) retry(s Standing, cost, limit uint64) uint64 {
	for range p.slots {
		if nanos, ok := p.passes(s, cost, limit); ok {
			return nanos
		}
		s = Standing{Index: s.Index + 1, Oldest: s.Full & p.previousMask}
	}
	return s.Index * p.width
}

// empty returns the tick at which nothing of s is left in the window.
func (p *Packed) empty(s Standing) uint64 {
	switch {
	case s.Full > 0:
		return (s.Index + p.slots) * p.width
	case s.Oldest > 0:
		return (s.Index + p.slots - 1) * p.width
	}
	return 0
}

// Read returns what word counts at now.
func (p *Packed) Read(word uint64, now tallyring.Tick) tallyring.Reading {
	return p.Reading(p.standing(word, now))
}

// Add counts without deciding. It returns the new word and true, or word and false where the bucket
// of now has left the ring.
func (p *Packed) Add(word uint64, now tallyring.Tick, count uint64) (uint64, bool) {
	index, _ := p.at(now)
	s := p.standing(word, now)
	switch s.Index - index {
	case 0:
		return p.pack(word, s, p.saturating(s.Full, count), count), true
	case 1:
		if p.previousMask == 0 {
			return word, false
		}
		s.Oldest = p.saturating(s.Oldest, count)
		return p.pack(word, s, s.Full, count), true
	}
	return word, false
}

// Refund takes back what was counted at the tick at. It returns word itself where that bucket has
// left the ring, was never counted in, or is saturated.
func (p *Packed) Refund(word uint64, at tallyring.Tick, count uint64) uint64 {
	index, _ := p.at(at)
	current, previous := word&p.maxCount, word>>p.countBits&p.previousMask
	switch p.distance(index, word>>p.indexShift) {
	case 0:
		return word - current + p.refunded(current, count)
	case -1:
		return word - (previous-p.refunded(previous, count))<<p.countBits
	}
	return word
}
