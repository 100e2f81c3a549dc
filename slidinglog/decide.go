package slidinglog

import (
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// span is the length of a log, and what follows from it.
type span struct {
	length int64 // nanoseconds, W
	cell   int64 // nanoseconds, of a coarsened log
}

// newSpan returns the span of a window of the given length.
func newSpan(length time.Duration) span {
	return span{length: int64(length), cell: cellNanos(int64(length))}
}

// clamp returns the tick that counts for now: negative ticks count as 0.
func clamp(now tallyring.Tick) int64 { return max(int64(now), 0) }

// admits tells whether cost passes where sum events count. A saturated sum passes no finite limit.
func admits(sum, cost, limit uint64) bool {
	if limit == tallyring.Unlimited {
		return true
	}
	return limit > 0 && cost <= limit && sum <= limit-cost
}

// allow decides cost at now, counts it if it is admitted, and changes nothing if not.
func (s span) allow(q *queue, now int64, cost, limit uint64) bool {
	at := max(now, q.newest)
	if !admits(q.sum(q.after(at-s.length)), cost, limit) {
		return false
	}
	s.record(q, at, cost)
	return true
}

// take is allow with the whole answer.
func (s span) take(q *queue, now int64, cost, limit uint64) tallyring.Decision {
	at := max(now, q.newest)
	first := q.after(at - s.length)
	sum := q.sum(first)
	d := tallyring.Decision{Limit: limit, At: tallyring.Tick(at)}
	if d.Allowed = admits(sum, cost, limit); d.Allowed {
		sum = addSaturated(sum, cost)
		if cost > 0 {
			s.record(q, at, cost)
			first = 0 // what did not count was dropped
		}
	} else {
		d.RetryAfter = s.retryAfter(q, first, now, cost, limit)
	}
	switch {
	case limit == tallyring.Unlimited:
		d.Remaining = tallyring.Unlimited
	case sum < limit:
		d.Remaining = limit - sum
	}
	if first < q.size {
		d.ResetAfter = s.until(q.at(q.size-1).tick, now)
	}
	return d
}

// retryAfter returns how long after now a cost that was denied will pass, where the runs from first
// on count. It is the tick at which enough of the oldest runs have left.
func (s span) retryAfter(q *queue, first int, now int64, cost, limit uint64) time.Duration {
	if limit == 0 || cost > limit {
		return tallyring.Never
	}
	// The runs from low on are too many, those from high+1 on are few enough: high is at most the
	// last run, whose leaving empties the log. The distance halves each time.
	low, high := first, q.size-1
	for low < high {
		middle := low + (high-low)/2
		if q.sum(middle+1) <= limit-cost {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return s.until(q.at(high).tick, now)
}

// until returns how long after now the run at tick leaves the window, or Never where that lies
// beyond the last tick there is.
func (s span) until(tick, now int64) time.Duration {
	if tick > math.MaxInt64-s.length {
		return tallyring.Never
	}
	return time.Duration(tick + s.length - now)
}

// record counts what has been decided to count at tick, which is in the window that ends at the
// newest tick, or later. A cost of 0 writes nothing.
func (s span) record(q *queue, tick int64, count uint64) {
	if count == 0 {
		return
	}
	q.drop(max(tick, q.newest) - s.length)
	if q.size == MaxRuns {
		q.coarsen(s.cell)
	}
	q.insert(tick, count)
}

// add counts at tick without deciding, and tells whether the window that ends at the newest tick
// still covers it.
func (s span) add(q *queue, tick int64, count uint64) bool {
	if tick <= q.newest-s.length {
		return false
	}
	s.record(q, tick, count)
	return true
}

// read returns what counts at now.
func (s span) read(q *queue, now int64) tallyring.Reading {
	cut := max(now, q.newest) - s.length
	high := q.sum(q.after(cut))
	low := high
	if q.coarse > cut {
		// An event up to q.coarse may have happened as much as cell-1 before its run's tick.
		low = q.sum(q.after(min(q.coarse, cut+s.cell-1)))
	}
	return tallyring.Reading{Low: low, Estimate: float64(high), High: high}
}

// refund takes back count of the events counted at tick.
func (s span) refund(q *queue, tick int64, count uint64) {
	i := q.after(tick - 1)
	if i == q.size || count == 0 {
		return
	}
	held := q.at(i).tick
	if held == tick || (held <= q.coarse && held/s.cell == tick/s.cell) {
		q.takeBack(i, count)
	}
}
