package atomicring

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/tallyring/tallyring"
)

const (
	// maxCountBits keeps the sum of MaxSlots saturated counts within 64 bits.
	maxCountBits = 48

	// minCountBits is the least that a layout must leave for one count.
	minCountBits = 8

	// easyCountBits is the least for which the packed form is taken without knowing the limit.
	easyCountBits = 12
)

// buckets is the arithmetic that both forms share: ticks to buckets, distances between buckets, and
// the one test that admits. It is immutable and sits on the read-only line of its owner.
type buckets struct {
	width      uint64 // nanoseconds
	reciprocal uint64 // ceil(2^(63+ceil(log2 width)) / width)
	shift      uint8  // ceil(log2 width) - 1
	far        uint8  // 64 minus the bits of a stored index
	whole      bool   // strict: the oldest bucket is not weighted
	slots      uint64
	maxCount   uint64 // all ones: a saturated count
}

// newBuckets needs a valid window of width 2 ns or more.
func newBuckets(w tallyring.Window, indexBits, countBits int) buckets {
	width := uint64(w.Width)
	ceilLog := bits.Len64(width - 1)
	quotient, remainder := bits.Div64(1<<(ceilLog-1), 0, width)
	if remainder > 0 {
		quotient++
	}
	return buckets{
		width:      width,
		reciprocal: quotient,
		shift:      uint8(ceilLog - 1),
		far:        uint8(64 - indexBits),
		whole:      w.Strict,
		slots:      uint64(w.Slots),
		maxCount:   1<<countBits - 1,
	}
}

// indexBits returns the fewest bits in which bucket indexes of this width, MaxLength apart, keep
// within half the range.
func indexBits(width time.Duration) int {
	return bits.Len64(uint64(tallyring.MaxLength/width)+1) + 1
}

// narrow is the error of a layout that would leave fewer than minCountBits for a count.
func narrow(w tallyring.Window, overhead, counts int) error {
	least := w.Width
	for (64-overhead-indexBits(least))/counts < minCountBits {
		least += least/64 + 1
	}
	for least > 1 && (64-overhead-indexBits(least-1))/counts >= minCountBits {
		least--
	}
	return fmt.Errorf("atomicring: window width %v leaves fewer than %d bits for a count beside "+
		"bucket indexes that last ten years, want a width of %v or more",
		w.Width, minCountBits, least)
}

// at returns the bucket of now and the time elapsed in it. The multiplication is the division by
// width, exactly: the reciprocal m satisfies 2^(63+l) <= m*width <= 2^(63+l)+2^l with
// l = ceil(log2 width), which is enough for every numerator below 2^63 (Granlund and Montgomery,
// Division by Invariant Integers using Multiplication, 1994, theorem 4.2).
func (b *buckets) at(now tallyring.Tick) (index, elapsed uint64) {
	nanos := uint64(max(now, 0))
	high, _ := bits.Mul64(b.reciprocal, nanos)
	index = high >> (b.shift & 63)
	return index, nanos - index*b.width
}

// distance returns how many buckets index lies after stored, which is known modulo 2^(64-far)
// alone.
func (b *buckets) distance(index, stored uint64) int64 {
	return int64((index-stored)<<(b.far&63)) >> (b.far & 63)
}

// maxLimit is the largest limit that counts of this layout can hold: one less than saturation.
func (b *buckets) maxLimit() uint64 { return b.maxCount - 1 }

// Clamp returns the limit that decides: the largest that counts can hold instead of a larger finite
// one.
func (b *buckets) Clamp(limit uint64) uint64 {
	if limit > b.maxLimit() && limit != tallyring.Unlimited {
		return b.maxLimit()
	}
	return limit
}

// Fits is the one test that admits: full*b + oldest*(b-elapsed) + cost*b <= limit*b, in integers.
// A saturated count is over every limit that a layout can hold: in full because it exceeds the
// limit, as the oldest because it is not weighted. The limit must be at most maxLimit.
func (b *buckets) Fits(s Standing, cost, limit uint64) bool {
	if cost > limit || s.Full > limit-cost {
		return false
	}
	room := limit - cost - s.Full
	if s.Oldest <= room {
		return true
	}
	return b.weighable(s.Oldest) && b.fitsIn(s.Oldest, s.Elapsed, room)
}

// weighs tells whether the oldest bucket, which is above the room that the others leave, fits in it
// for the part that is left at now, in a ring whose newest bucket is that of now.
func (b *buckets) weighs(oldest uint64, now tallyring.Tick, room uint64) bool {
	if !b.weighable(oldest) {
		return false
	}
	_, elapsed := b.at(now)
	return b.fitsIn(oldest, elapsed, room)
}

// weighable tells whether the oldest bucket counts for the part that is left of it.
func (b *buckets) weighable(oldest uint64) bool { return !b.whole && oldest != b.maxCount }

// fitsIn tells whether oldest*(b-elapsed) <= room*b.
func (b *buckets) fitsIn(oldest, elapsed, room uint64) bool {
	needHigh, needLow := bits.Mul64(oldest, b.width-elapsed)
	haveHigh, haveLow := bits.Mul64(room, b.width)
	return needHigh < haveHigh || needHigh == haveHigh && needLow <= haveLow
}

// saturating returns count+more, or the saturated count where that is reached or was before.
func (b *buckets) saturating(count, more uint64) uint64 {
	if more > b.maxCount-count {
		return b.maxCount
	}
	return count + more
}

// refunded returns count less what is taken back, never below 0; a saturated count stays.
func (b *buckets) refunded(count, less uint64) uint64 {
	if count == b.maxCount {
		return count
	}
	return count - min(count, less)
}
