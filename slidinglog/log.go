package slidinglog

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
)

// Log is the exact log of the events of one limit. Use it where the limit is small and the answer
// must be exact; an atomicring.Ring is faster, lock-free and of fixed size, but an estimate. A Log
// must not be copied. All methods may be called from any number of goroutines.
//
// The algorithm is the sliding-window log of the literature on rate limiting, with equal ticks
// merged and running sums kept, so that a decision is one binary search.
type Log struct {
	span
	book
}

// New returns an empty log of the given length, W, which is more than 0 and at most
// tallyring.MaxLength.
func New(length time.Duration) (*Log, error) {
	if err := validate(length); err != nil {
		return nil, err
	}
	return &Log{span: newSpan(length), book: book{queue: newQueue(0)}}, nil
}

func validate(length time.Duration) error {
	if length <= 0 || length > tallyring.MaxLength {
		return fmt.Errorf("slidinglog: length is %v, want more than 0 and at most %v",
			length, tallyring.MaxLength)
	}
	return nil
}

// Length returns W, the length of the window.
func (l *Log) Length() time.Duration { return time.Duration(l.length) }

// Allow decides whether an event that weighs cost passes the limit at tick now, and counts it if
// so. A denied event changes nothing. A late tick is decided and counted at the newest. Cost 0 is a
// peek: it is never counted, and passes if what counts is within a limit above 0.
//
// A denial takes no lock where the same was found before: nothing was counted or taken back since
// another denial, and nothing has left the window. So events beyond a full limit run in parallel,
// and only one of them takes the lock each time that something leaves.
func (l *Log) Allow(now tallyring.Tick, cost, limit uint64) bool {
	tick := clamp(now)
	if l.denies(tick, cost, limit) {
		return false
	}
	l.mu.Lock()
	allowed := l.allow(&l.book, tick, cost, limit)
	l.mu.Unlock()
	return allowed
}

// Take is Allow that also tells what the caller may do next. RetryAfter and ResetAfter count from
// now, also where now is late; they are tallyring.Never where the time lies beyond the last tick.
func (l *Log) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	l.mu.Lock()
	d := l.take(&l.book, clamp(now), cost, limit)
	l.mu.Unlock()
	return d
}

// Read returns how many events count at now, or at the newest tick if now is late. Low, Estimate
// and High are the same unless the log was coarsened; then Low and High hold the true count between
// them and decisions go by High, which Estimate equals.
func (l *Log) Read(now tallyring.Tick) tallyring.Reading {
	l.mu.Lock()
	r := l.read(&l.book, clamp(now))
	l.mu.Unlock()
	return r
}

// Add counts events at now without deciding. A late tick goes to its own place if the window that
// ends at the newest tick still covers it; otherwise nothing is counted and Add returns false.
// Counting 0 events writes nothing.
func (l *Log) Add(now tallyring.Tick, count uint64) bool {
	l.mu.Lock()
	counted := l.add(&l.book, clamp(now), count)
	l.mu.Unlock()
	return counted
}

// Refund takes back up to count of the events that were counted at exactly the tick at, which is
// Decision.At of what is refunded. It is a no-op where none are held, and on a saturated count.
func (l *Log) Refund(at tallyring.Tick, count uint64) {
	l.mu.Lock()
	l.refund(&l.book, clamp(at), count)
	l.mu.Unlock()
}
