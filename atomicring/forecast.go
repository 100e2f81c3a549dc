package atomicring

import (
	"math/bits"
	"time"

	"github.com/tallyring/tallyring"
)

// standing is a ring as of one bucket: what a decision weighs.
type standing struct {
	index   uint64 // bucket, not reduced: later than that of the tick given where that was late
	elapsed uint64 // nanoseconds of the bucket that have passed, 0 where the tick was late
	full    uint64 // every count but the oldest
	oldest  uint64
}

// reading returns s with its error.
func (b *buckets) reading(s standing) tallyring.Reading {
	high := s.full + s.oldest
	estimate := float64(high)
	if !b.whole {
		estimate = float64(s.full) + float64(s.oldest)*float64(b.width-s.elapsed)/float64(b.width)
	}
	return tallyring.Reading{Low: s.full, Estimate: estimate, High: high}
}

// remaining returns the largest cost that s would admit now.
func (b *buckets) remaining(s standing, limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	weighted := s.oldest
	if !b.whole && s.oldest != b.maxCount {
		high, low := bits.Mul64(s.oldest, b.width-s.elapsed)
		quotient, remainder := bits.Div64(high, low, b.width)
		if remainder > 0 {
			quotient++
		}
		weighted = quotient
	}
	return limit - min(limit, s.full+weighted)
}

// passes returns the first tick of the bucket s.index at which s admits cost, if there is one.
func (b *buckets) passes(s standing, cost, limit uint64) (nanos uint64, ok bool) {
	if s.full > limit-cost {
		return 0, false
	}
	room := limit - cost - s.full
	start := s.index * b.width
	if s.oldest <= room {
		return start, true
	}
	if b.whole || s.oldest == b.maxCount {
		return 0, false
	}
	// oldest*(width-elapsed) <= room*width holds from elapsed = width - floor(room*width/oldest).
	high, low := bits.Mul64(room, b.width)
	kept, _ := bits.Div64(high, low, s.oldest)
	if kept == 0 {
		return 0, false
	}
	return start + b.width - kept, true
}

// decision assembles the answer to one event from s, which already counts it where it was admitted.
// retryNanos is the tick of the first admission, used where the event was denied for now, and
// emptyNanos the tick at which the estimate is 0.
func (b *buckets) decision(
	s standing, now tallyring.Tick, cost, limit uint64, allowed bool, retryNanos, emptyNanos uint64,
) tallyring.Decision {
	nanos := uint64(max(now, 0))
	d := tallyring.Decision{
		Allowed:    allowed,
		Limit:      limit,
		Remaining:  b.remaining(s, limit),
		At:         tallyring.Tick(max(nanos, s.index*b.width)),
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

// hopeless tells whether an event that was denied can never pass.
func hopeless(cost, limit uint64) bool { return cost > limit || limit == 0 }

// span returns the time from one tick to another, 0 where that is past, and less than Never.
func span(from, to uint64) time.Duration {
	if to <= from {
		return 0
	}
	return time.Duration(min(to-from, uint64(tallyring.Never)-1))
}
