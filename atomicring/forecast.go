package atomicring

import (
	"math/bits"
	"time"

	"github.com/tallyring/tallyring"
)

// Standing is a ring as of one bucket: what a decision weighs.
type Standing struct {
	Index   uint64 // bucket, not reduced: later than that of the tick given where that was late
	Elapsed uint64 // nanoseconds of the bucket that have passed, 0 where the tick was late
	Full    uint64 // every count but the oldest
	Oldest  uint64
}

// Reading returns s with its error.
func (b *buckets) Reading(s Standing) tallyring.Reading {
	r := tallyring.Reading{Low: s.Full, High: s.Full + s.Oldest}
	if b.whole {
		r.Estimate = float64(r.High)
		return r
	}
	high, low := bits.Mul64(s.Oldest, b.width-s.Elapsed)
	quotient, remainder := bits.Div64(high, low, b.width)
	r.Estimate = float64(s.Full+quotient) + float64(remainder)/float64(b.width)
	return r
}

// Remaining returns the largest cost that s would admit now.
func (b *buckets) Remaining(s Standing, limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	weighted := s.Oldest
	if !b.whole && s.Oldest != b.maxCount {
		high, low := bits.Mul64(s.Oldest, b.width-s.Elapsed)
		quotient, remainder := bits.Div64(high, low, b.width)
		if remainder > 0 {
			quotient++
		}
		weighted = quotient
	}
	return limit - min(limit, s.Full+weighted)
}

// passes returns the first tick of the bucket s.Index at which s admits cost, if there is one.
func (b *buckets) passes(s Standing, cost, limit uint64) (nanos uint64, ok bool) {
	if s.Full > limit-cost {
		return 0, false
	}
	room := limit - cost - s.Full
	start := s.Index * b.width
	if s.Oldest <= room {
		return start, true
	}
	if b.whole || s.Oldest == b.maxCount {
		return 0, false
	}
	// oldest*(width-elapsed) <= room*width holds from elapsed = width - floor(room*width/oldest).
	high, low := bits.Mul64(room, b.width)
	kept, _ := bits.Div64(high, low, s.Oldest)
	if kept == 0 {
		return 0, false
	}
	return start + b.width - kept, true
}

// decision assembles the answer to one event from s, which already counts it where it was admitted.
// retryNanos is the tick of the first admission, used where the event was denied for now, and
// emptyNanos the tick at which the estimate is 0.
func (b *buckets) decision(
	s Standing, now tallyring.Tick, cost, limit uint64, allowed bool, retryNanos, emptyNanos uint64,
) tallyring.Decision {
	nanos := uint64(max(now, 0))
	d := tallyring.Decision{
		Allowed:    allowed,
		Limit:      limit,
		Remaining:  b.Remaining(s, limit),
		At:         b.At(s, now),
		ResetAfter: span(nanos, emptyNanos),
	}
	switch {
	case allowed:
	case hopeless(cost, limit):
		d.RetryAfter = tallyring.Never
	default:
		d.RetryAfter = span(nanos, retryNanos)
	}
	return d
}

// At returns the tick at which an event at now was decided or counted, which was late if it is
// later.
func (b *buckets) At(s Standing, now tallyring.Tick) tallyring.Tick {
	return max(now, tallyring.Tick(s.Index*b.width))
}

// Behind returns how many buckets the one of now lies behind that of s.
func (b *buckets) Behind(s Standing, now tallyring.Tick) uint64 {
	index, _ := b.at(now)
	return s.Index - index
}

// hopeless tells whether an event that was denied can never pass.
func hopeless(cost, limit uint64) bool { return cost > limit || limit == 0 }

// span returns the time from one tick to another, 0 where that is past, and less than Never.
func span(from, to uint64) time.Duration {
	if to <= from {
		return 0
	}
	return time.Duration(min(to-from, uint64(tallyring.Never)-1))
}
