package gcra

import (
	"time"

	"github.com/tallyring/tallyring"
)

// Rate is how fast a bucket refills, the layout of its word, and its transitions, which are pure:
// the caller owns the word, and replaces it by compare-and-swap. The burst is an argument of each
// decision and not part of the word: raising or lowering it acts at once, and the same burst again
// refills nothing.
//
//	 63   62         shift             0
//	{mark| span index | due, in units }
//
// The index is on top, so that adding units to the word adds them to the instant at which it is
// due, which counts from the start of the span, and reaches to the end of the next.
//
// A Rate is immutable and safe for concurrent use.
type Rate struct {
	perEvent uint64 // units that an event of cost 1 is charged
	newer    uint64 // 1 << shift: no due reaches this far
	inSpan   uint64 // 1 << spanBits, less 1
	clock
	maxBurst uint64
	spanBits uint8
	far      uint8 // 64 minus the bits of an index
}

// NewRate returns the rate of so many events per duration, laid out for bursts up to burst; a burst
// of a decision may be as large as MaxBurst. It fails if events is 0, if per is not 1 ns to
// [tallyring.MaxLength], if that is more than 7 events per nanosecond, or if burst is above 2^55 or
// takes longer than MaxLength to refill. No other rate is rounded.
func NewRate(events uint64, per time.Duration, burst uint64) (Rate, error) {
	if err := check(events, per, burst); err != nil {
		return Rate{}, err
	}
	common := gcd(events, uint64(per))
	f := newFit(events/common, uint64(per)/common, burst)
	return Rate{
		clock:    f.clock,
		perEvent: f.perEvent,
		newer:    2 << f.spanBits,
		inSpan:   1<<f.spanBits - 1,
		maxBurst: min(1<<f.spanBits/f.perEvent, mostBurst),
		spanBits: uint8(f.spanBits),
		far:      uint8(markBits + f.spanBits + 1),
	}, nil
}

// MaxBurst returns the largest burst that a word can hold, and the most events that it can owe. A
// larger finite burst decides as this one.
func (r *Rate) MaxBurst() uint64 { return r.maxBurst }

// MaxLimit is MaxBurst, by the name that a table asks for: the limit of its decisions is the burst.
func (r *Rate) MaxLimit() uint64 { return r.maxBurst }

// Span returns the length of a span, rounded up: what the burst that NewRate was given takes to
// refill, or less than twice that; but 2^30 units, a seventh of a second to 1.1 s, at least. A word
// expires one to two spans after it was last charged.
func (r *Rate) Span() time.Duration { return time.Duration(r.wait(0, r.inSpan+1)) }

// IndexShift returns the number of bits below the span index.
func (r *Rate) IndexShift() uint { return uint(r.spanBits) + 1 }

// Index returns the span of now, as stored: modulo the range of the layout.
func (r *Rate) Index(now tallyring.Tick) uint64 {
	return r.stored(r.Units(max(now, 0)) >> (r.spanBits & 63))
}

// Expired tells whether word is a full bucket at now, however it was charged: the second span after
// its own has begun.
func (r *Rate) Expired(word uint64, now tallyring.Tick) bool {
	return r.behind(word, r.Units(max(now, 0))) >= 2
}

// stored reduces a span index to the bits that a word keeps of it.
func (r *Rate) stored(index uint64) uint64 { return index << (r.far & 63) >> (r.far & 63) }

// behind returns how many spans word's lies behind that of a unit.
func (r *Rate) behind(word, units uint64) int64 {
	index := units >> (r.spanBits & 63)
	return int64((index-word>>((r.spanBits+1)&63))<<(r.far&63)) >> (r.far & 63)
}

// Clamp returns the burst that decides: the largest that words hold instead of a larger finite one.
func (r *Rate) Clamp(burst uint64) uint64 {
	if burst > r.maxBurst && burst != tallyring.Unlimited {
		return r.maxBurst
	}
	return burst
}
