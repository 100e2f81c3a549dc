package slidinglog

import (
	"math"
	"sync"
	"time"

	"github.com/tallyring/tallyring"
)

// book is the state of one log: its queue, and the lock and the hint around it. All methods but
// the hint's denies are for who holds the lock.
type book struct {
	mu sync.Mutex
	hint
	queue
}

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
func (s *span) allow(b *book, now int64, cost, limit uint64) bool {
	at := max(now, b.newest)
	first := b.after(at - s.length)
	if sum := b.sum(first); !admits(sum, cost, limit) {
		s.deny(b, first, sum)
		return false
	}
	s.record(b, at, cost)
	return true
}

// take is allow with the whole answer.
func (s *span) take(b *book, now int64, cost, limit uint64) tallyring.Decision {
	at := max(now, b.newest)
	first := b.after(at - s.length)
	sum := b.sum(first)
	d := tallyring.Decision{Limit: limit, At: tallyring.Tick(at)}
	if d.Allowed = admits(sum, cost, limit); d.Allowed {
		sum = addSaturated(sum, cost)
		if cost > 0 {
			s.record(b, at, cost)
			first = 0 // what did not count was dropped
		}
	} else {
		s.deny(b, first, sum)
		d.RetryAfter = s.retryAfter(b, first, now, cost, limit)
	}
	switch {
	case limit == tallyring.Unlimited:
		d.Remaining = tallyring.Unlimited
	case sum < limit:
		d.Remaining = limit - sum
	}
	if first < b.size {
		d.ResetAfter = s.until(b.at(b.size-1).tick, now)
	}
	return d
}

// deny leaves a hint for those that come next, where run first is the oldest of those that count,
// and sum is their sum.
func (s *span) deny(b *book, first int, sum uint64) {
	if first < b.size {
		b.leave(s.leaves(b.at(first).tick), sum)
	}
}

// retryAfter returns how long after now a cost that was denied will pass, where the runs from first
// on count. It is the tick at which enough of the oldest runs have left.
func (s *span) retryAfter(b *book, first int, now int64, cost, limit uint64) time.Duration {
	if limit == 0 || cost > limit {
		return tallyring.Never
	}
	// While any run before low stays too much counts, and once run high has left no more than
	// enough does: that holds for the last run, whose leaving empties the log. The distance halves.
	low, high := first, b.size-1
	for low < high {
		middle := low + (high-low)/2
		if b.sum(middle+1) <= limit-cost {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return s.until(b.at(high).tick, now)
}

// leaves returns the first tick at which a run no longer counts, or the last tick that there is.
func (s *span) leaves(tick int64) int64 {
	if tick > math.MaxInt64-s.length {
		return math.MaxInt64
	}
	return tick + s.length
}

// until returns how long after now the run at tick leaves the window, or Never where that lies
// beyond the last tick there is.
func (s *span) until(tick, now int64) time.Duration {
	if tick > math.MaxInt64-s.length {
		return tallyring.Never
	}
	return time.Duration(tick + s.length - now)
}

// record counts what has been decided to count at tick, which is in the window that ends at the
// newest tick, or later. A cost of 0 writes nothing.
func (s *span) record(b *book, tick int64, count uint64) {
	if count == 0 {
		return
	}
	b.clear()
	b.drop(max(tick, b.newest) - s.length)
	if b.size == MaxRuns {
		b.coarsen(s.cell)
	}
	b.insert(tick, count)
}

// add counts at tick without deciding, and tells whether the window that ends at the newest tick
// still covers it.
func (s *span) add(b *book, tick int64, count uint64) bool {
	if tick <= b.newest-s.length {
		return false
	}
	s.record(b, tick, count)
	return true
}

// read returns what counts at now.
func (s *span) read(b *book, now int64) tallyring.Reading {
	cut := max(now, b.newest) - s.length
	high := b.sum(b.after(cut))
	low := high
	if b.coarse > cut {
		// An event up to coarse may have happened as much as cell-1 before its run's tick.
		low = b.sum(b.after(min(b.coarse, cut+s.cell-1)))
	}
	return tallyring.Reading{Low: low, Estimate: float64(high), High: high}
}

// refund takes back count of the events counted at tick.
func (s *span) refund(b *book, tick int64, count uint64) {
	i := b.after(tick - 1)
	if i == b.size || count == 0 {
		return
	}
	held := b.at(i).tick
	if held == tick || (held <= b.coarse && held/s.cell == tick/s.cell) {
		b.clear()
		b.takeBack(i, count)
	}
}
