package gcra

import (
	"sync/atomic"
	"time"

	"github.com/tallyring/tallyring"
)

// Bucket is one token bucket: it admits events at a rate, and up to a burst of them at once after a
// pause. All methods may be called from any number of goroutines; none of them blocks, and none
// allocates. A Bucket must not be copied.
//
// Prefer it to a window where events should be spread: a window lets all of its limit pass at once,
// a bucket its burst. A burst of 1 spaces events evenly; a burst of events, with per as the window,
// never admits more than twice the limit of that window, and the limit in the long run.
type Bucket struct {
	word  *atomic.Uint64 // on a line of its own
	depth uint64         // of burst, in units
	burst uint64
	rate  Rate
}

// New returns a full bucket of the given burst that refills with so many events per duration. It
// fails as [NewRate] does. A burst of 0 denies everything.
func New(events uint64, per time.Duration, burst uint64) (*Bucket, error) {
	rate, err := NewRate(events, per, burst)
	if err != nil {
		return nil, err
	}
	word := &tallyring.Words(tallyring.NewLines(ownLines))[0]
	return &Bucket{word: word, depth: rate.Depth(burst), burst: burst, rate: rate}, nil
}

// ownLines keep the word apart from what others write: its line, and the one that is fetched with
// it.
const ownLines = tallyring.PadBytes / tallyring.LineBytes

// Bytes returns the memory of the word, padding included.
func (b *Bucket) Bytes() int { return ownLines * tallyring.LineBytes }

// Burst returns the largest cost that a full bucket admits.
func (b *Bucket) Burst() uint64 { return b.burst }

// MaxBurst returns the most events that the bucket can owe: the burst or more.
func (b *Bucket) MaxBurst() uint64 { return b.rate.maxBurst }

// Allow charges an event of the given cost if the bucket holds as much at now, and reports whether
// it did. Cost 0 asks without charging. A denial is loads only.
func (b *Bucket) Allow(now tallyring.Tick, cost uint64) bool {
	word, r := b.word.Load(), &b.rate
	units := r.Units(now)
	due := r.Due(word, units)
	if now < 0 || !r.Newest(due) {
		return b.allowSlow(now, cost)
	}
	debt := r.Debt(due, units, cost)
	if debt > b.depth {
		return false
	}
	if cost-1 < b.burst && b.word.CompareAndSwap(word, word-due+r.Elapsed(units)+debt) {
		return true
	}
	return b.allowSlow(now, cost)
}

// allowSlow is Allow where a glance does not tell. An attempt is repeated only when another event
// was charged in between, so someone made progress.
func (b *Bucket) allowSlow(now tallyring.Tick, cost uint64) bool {
	for {
		word := b.word.Load()
		next, ok := b.rate.Next(word, now, cost, b.burst)
		if next == word || b.word.CompareAndSwap(word, next) {
			return ok
		}
	}
}

// Take is Allow with the whole answer. Limit is the burst, Remaining the largest cost that would
// pass now, and ResetAfter the time until the bucket is full.
func (b *Bucket) Take(now tallyring.Tick, cost uint64) tallyring.Decision {
	for {
		word := b.word.Load()
		next, d := b.rate.Take(word, now, cost, b.burst)
		if next == word || b.word.CompareAndSwap(word, next) {
			return d
		}
	}
}

// Add charges events without asking, into debt if need be: nothing passes until time has paid for
// that. It returns false where not all were charged, since no more than MaxBurst are ever owed.
func (b *Bucket) Add(now tallyring.Tick, count uint64) bool {
	for {
		word := b.word.Load()
		next, all := b.rate.Add(word, now, count)
		if next == word || b.word.CompareAndSwap(word, next) {
			return all
		}
	}
}

// Read returns how many events are not yet paid for at now: what is missing for a full bucket. It
// is more than the burst where there is debt.
func (b *Bucket) Read(now tallyring.Tick) tallyring.Reading {
	return b.rate.Read(b.word.Load(), now)
}

// Refund takes back count events that were charged at the tick at, which is Decision.At of the
// event. It makes the bucket full as of that tick at most, and does nothing once the bucket has
// been charged in the second span ([Rate.Span]) after that of the tick, or later.
func (b *Bucket) Refund(at tallyring.Tick, count uint64) {
	for {
		word := b.word.Load()
		next := b.rate.Refund(word, at, count)
		if next == word || b.word.CompareAndSwap(word, next) {
			return
		}
	}
}
