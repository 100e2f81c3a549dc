package exphist

import (
	"fmt"
	"sync"
	"time"

	"github.com/tallyring/tallyring"
)

// Histogram counts the events of the last W of time, within a relative error that is fixed when it
// is made, in memory that grows with the logarithm of the count. Prefer it to a slidinglog.Log
// where the limit is too large for a log, and to an atomicring.Ring where the error must be bounded
// whatever the traffic does; both of those take refunds, and the ring is lock-free. A Histogram
// must not be copied. All methods may be called from any number of goroutines; they share one lock.
//
// The algorithm is the exponential histogram of Datar, Gionis, Indyk and Motwani, "Maintaining
// Stream Statistics over Sliding Windows", SIAM Journal on Computing 31(6), 2002.
type Histogram struct {
	mu sync.Mutex
	buckets
}

// New returns an empty histogram of the given length, W, which is more than 0 and at most
// tallyring.MaxLength. Its estimate is within eps of the true count, which is at most most; eps is
// above 0 and at most 1, most is 1 to MaxCount. It fails where an argument is out of its range, or
// where eps and most together take more than MaxBytes.
func New(length time.Duration, eps float64, most uint64, options ...Option) (*Histogram, error) {
	if length <= 0 || length > tallyring.MaxLength {
		return nil, fmt.Errorf("exphist: length is %v, want more than 0 and at most %v",
			length, tallyring.MaxLength)
	}
	s, err := newShape(int64(length), eps, most, options)
	if err != nil {
		return nil, err
	}
	return &Histogram{buckets: newBuckets(s)}, nil
}

// Length returns W, the length of the window.
func (h *Histogram) Length() time.Duration { return time.Duration(h.span) }

// MaxLimit returns the largest limit that decisions keep exactly, which is the most that New was
// given. A larger finite limit decides as that one.
func (h *Histogram) MaxLimit() uint64 { return h.most }

// Bits returns the size of the state in bits, to the last one: the ends of the buckets, how many
// there are of each size, and three words. It is known when New returns and never changes.
func (h *Histogram) Bits() int { return h.stateBits() }

// Bytes returns the memory that the histogram takes on a 64-bit machine, with its lock and what
// rounds the state up to words. It is known when New returns and never changes.
func (h *Histogram) Bytes() int { return histogramBytes + int(h.wordBytes()) }

// Allow decides whether an event that weighs cost passes the limit at tick now, and counts it if
// so. A denied event changes nothing. A late tick is decided and counted at the newest. Cost 0 is a
// peek: it is never counted, and passes if what counts is within a limit above 0.
func (h *Histogram) Allow(now tallyring.Tick, cost, limit uint64) bool {
	h.mu.Lock()
	allowed := h.allow(h.place(now), cost, limit)
	h.mu.Unlock()
	return allowed
}

// Take is Allow that also tells what the caller may do next. With no other events the histogram
// admits this one at now+RetryAfter and denies it one nanosecond before; what the true count is
// then, only the error of a reading tells. ResetAfter is the time until a reading is 0. Both count
// from now, also where now is late; they are tallyring.Never where the time lies beyond the last
// tick.
func (h *Histogram) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	h.mu.Lock()
	d := h.take(max(int64(now), 0), cost, limit)
	h.mu.Unlock()
	return d
}

// Add counts events at now without deciding. A late tick counts at the newest, so that Add always
// counts; it is forgotten later than it could be, never earlier. The work follows the logarithm of
// count. Counting 0 events writes nothing.
func (h *Histogram) Add(now tallyring.Tick, count uint64) {
	if count == 0 {
		return
	}
	h.mu.Lock()
	place := h.place(now)
	h.count(place, h.live(place-h.span), count)
	h.mu.Unlock()
}

// Read returns how many events count at now, or at the newest tick if now is late. The true count
// lies in [Low, High], and Estimate, halfway between, is within eps of it. Where more came at once
// than the histogram holds, High and Estimate are saturated until that has left the window.
func (h *Histogram) Read(now tallyring.Tick) tallyring.Reading {
	h.mu.Lock()
	r := h.readAt(h.place(now))
	h.mu.Unlock()
	return r
}

// Estimate returns the Estimate of a reading.
func (h *Histogram) Estimate(now tallyring.Tick) float64 { return h.Read(now).Estimate }

// place returns the tick that counts for now: negative ticks count as 0, and late ones as the
// newest. The caller holds the lock.
func (h *Histogram) place(now tallyring.Tick) int64 { return max(int64(now), h.newest) }
