package exphist

import (
	"fmt"
	"math"
	"sync"

	"github.com/tallyring/tallyring"
)

// Events sums what the last N events weigh, within a relative error that is fixed when it is made.
// Where each weighs 0 or 1 the sum says how many of the last N were marked: failed, denied, slow.
// Where they weigh more it is the bytes, say, of the last N. Time plays no part: what is N events
// old is forgotten, however long they took. An Events must not be copied. All methods may be called
// from any number of goroutines; they share one lock, and events have the order in which they take
// it.
//
// The algorithm is that of Histogram, in the form that its authors gave it: the basic counting
// problem where each event weighs 0 or 1, and the sum of a window of integers else.
type Events struct {
	mu sync.Mutex
	buckets
	position int64 // of the last event. It less newest is below span, or nothing is held
}

// NewEvents returns an Events over the last events, which is 1 to MaxEvents. Its estimate is within
// eps of the true sum, which is at most most: events, where each weighs 0 or 1. Eps is above 0 and
// at most 1, most is 1 to MaxCount. It fails where an argument is out of its range, or where eps
// and most together take more than MaxBytes.
func NewEvents(events uint64, eps float64, most uint64, options ...Option) (*Events, error) {
	if events == 0 || events > MaxEvents {
		return nil, fmt.Errorf("exphist: window of the last %d events, want 1 to %d",
			events, MaxEvents)
	}
	s, err := newShape(int64(events), eps, most, options)
	if err != nil {
		return nil, err
	}
	return &Events{buckets: newBuckets(s)}, nil
}

// Events returns N, the number of events that the window covers.
func (e *Events) Events() uint64 { return uint64(e.span) }

// MaxLimit returns the largest limit that decisions keep exactly, which is the most that NewEvents
// was given. A larger finite limit decides as that one.
func (e *Events) MaxLimit() uint64 { return e.most }

// Bits is Histogram.Bits, with one more word: the number of the last event.
func (e *Events) Bits() int { return e.stateBits() + positionBits }

// Bytes returns the memory that the histogram takes on a 64-bit machine, as Histogram.Bytes does.
func (e *Events) Bytes() int { return eventsBytes + int(e.wordBytes()) }

// Add is one event, which weighs weight, 0 too.
func (e *Events) Add(weight uint64) {
	e.mu.Lock()
	e.pass(1)
	if weight > 0 {
		e.count(e.position, e.live(e.position-e.span), weight)
	}
	e.mu.Unlock()
}

// Skip is so many events at once that weigh nothing.
func (e *Events) Skip(events uint64) {
	e.mu.Lock()
	e.pass(int64(min(events, uint64(e.span))))
	e.mu.Unlock()
}

// Allow is one event, which asks to weigh cost. It passes if the sum of the last N events, itself
// one of them, stays within the limit. If it is denied it is an event that weighs nothing: so the
// window moves on also where all are denied, and of any N events in a row those that passed weigh
// no more than the limit. Cost 0 is a peek: it is no event, and passes if what the next event would
// find, the sum of the last N-1, is within a limit above 0.
func (e *Events) Allow(cost, limit uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if cost == 0 {
		return e.allow(e.position+1, 0, limit)
	}
	e.pass(1)
	return e.allow(e.position, cost, limit)
}

// Read returns the sum of what the last N events weigh. The true sum lies in [Low, High], and
// Estimate, halfway between, is within eps of it. Where a sum did not fit, High and Estimate are
// saturated until that has left the window.
func (e *Events) Read() tallyring.Reading {
	e.mu.Lock()
	r := e.readAt(e.position)
	e.mu.Unlock()
	return r
}

// Estimate returns the Estimate of a reading.
func (e *Events) Estimate() float64 { return e.Read().Estimate }

// pass moves the position on by at most span events. The caller holds the lock.
func (e *Events) pass(events int64) {
	e.position += events
	if e.position-e.newest >= e.span {
		e.forget(view{})
		e.position, e.newest, e.over = 0, 0, never
	} else if e.position > math.MaxInt64/2 {
		e.renumber()
	}
}

// renumber takes from all numbers of events the same multiple of 2^endBits, which the ends of
// buckets do not notice. Numbers are then below 2*MaxEvents.
func (e *Events) renumber() {
	back := e.newest &^ int64(e.ends.mask)
	e.position -= back
	e.newest -= back
	if e.over != never {
		e.over -= back
	}
}
