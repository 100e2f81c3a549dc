package atomicring

import (
	"fmt"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// Ring counts the events of one window, and decides on them. All methods may be called from any
// number of goroutines; none of them blocks, and none allocates. A Ring must not be copied.
//
// Prefer it where one limit stands for a whole service and its line is not the bottleneck; package
// pertcore spreads one limit over processors, and package table holds one ring per key.
type Ring struct {
	word   *atomic.Uint64    // the ring, where it is packed; nil otherwise
	words  []atomic.Uint64   // the ring, head first, on lines of its own
	sums   *[2]atomic.Uint64 // of them, where the layout has sums
	packed Packed
	tagged Tagged
}

// New returns an empty ring for w in the form that suits it without knowledge of the limit: packed
// where a count holds 12 bits or more. It fails if w is not valid, or so narrow that no form has 8
// bits for a count beside indexes that last ten years.
func New(w tallyring.Window) (*Ring, error) {
	return newRing(w, 1<<easyCountBits-2)
}

// NewFor is New for a ring that must hold limits up to limit exactly. It also fails if no form
// does.
func NewFor(w tallyring.Window, limit uint64) (*Ring, error) {
	if limit == tallyring.Unlimited {
		return New(w)
	}
	r, err := newRing(w, limit)
	if err != nil {
		return nil, err
	}
	if limit > r.MaxLimit() {
		return nil, fmt.Errorf("atomicring: limit %d is above %d, the most that a window of "+
			"width %v can hold: want a lower limit or a larger width", limit, r.MaxLimit(), w.Width)
	}
	return r, nil
}

// newRing takes the packed form for one slot, which it always suits best, and for two where it
// holds limit. Else it takes the tagged form.
func newRing(w tallyring.Window, limit uint64) (*Ring, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if w.Slots <= 2 {
		packed, err := NewPacked(w, 0)
		switch {
		case err == nil && (w.Slots == 1 || packed.MaxLimit() >= limit):
			words := wordsFor(1)
			return &Ring{word: &words[0], words: words, packed: packed}, nil
		case w.Slots == 1:
			return nil, err
		}
	}
	tagged, err := NewTagged(w, 0)
	if err != nil {
		return nil, err
	}
	tagged = tagged.Summed()
	words := wordsFor(tagged.Words())
	return &Ring{words: words, sums: sumsOf(words), tagged: tagged}, nil
}

// linesFor returns how many lines keep a ring apart from what others write: its own, and one more,
// since lines are fetched in pairs.
func linesFor(words int) int {
	own := (words + tallyring.LineWords - 1) / tallyring.LineWords
	return own + tallyring.PadBytes/tallyring.LineBytes - 1
}

// wordsFor returns the words of a ring.
func wordsFor(n int) []atomic.Uint64 {
	return tallyring.Words(tallyring.NewLines(linesFor(n)))[:n:n]
}

// MaxLimit returns the largest limit that the ring can hold. A larger finite limit decides as this
// one.
func (r *Ring) MaxLimit() uint64 {
	if r.word != nil {
		return r.packed.MaxLimit()
	}
	return r.tagged.MaxLimit()
}

// Bytes returns the memory of the counters, padding included.
func (r *Ring) Bytes() int { return linesFor(len(r.words)) * tallyring.LineBytes }

// Allow counts an event of the given cost if the limit admits it at now, and reports whether it
// did. Cost 0 asks without counting; limit 0 denies everything; [tallyring.Unlimited] admits
// everything and counts. A denial is loads only.
func (r *Ring) Allow(now tallyring.Tick, cost, limit uint64) bool {
	if r.word != nil {
		word, p := r.word.Load(), &r.packed
		counts := p.Counts(word, now)
		if now < 0 || !p.Newest(counts) {
			return r.allowSlow(now, cost, limit)
		}
		full, high := p.Sums(counts, cost)
		if full > limit {
			return false
		}
		if high > limit && p.Plain(cost, limit) {
			return r.allowWeighed(word, high-full, now, cost, limit, limit-full)
		}
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingCount)
		}
		if high <= limit && p.Plain(cost, limit) && r.word.CompareAndSwap(word, word+cost) {
			return true
		}
		return r.allowSlow(now, cost, limit)
	}
	// Try, written out: the calls, and what they save and restore, would cost a third of it.
	g, words := &r.tagged, r.words
	if r.sums == nil {
		return r.allowTaggedSlow(now, cost, limit)
	}
	head := words[0].Load()
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingLooked)
	}
	count, _ := g.Near(head, now)
	between, oldest, ok := g.recall(r.sums, head-count)
	if !ok || !g.Plain(count, cost, limit) {
		return r.allowTaggedSlow(now, cost, limit)
	}
	full := count + cost + between
	switch {
	case full > limit:
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingConfirm)
		}
		if words[0].Load() == head {
			return false
		}
	case full+oldest > limit:
		return r.allowTaggedWeighed(head, oldest, now, cost, limit, limit-full)
	default:
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingCount)
		}
		if words[0].CompareAndSwap(head, head+cost) {
			return true
		}
	}
	return r.allowTaggedSlow(now, cost, limit)
}

// allowWeighed is Allow for a packed ring in its newest bucket, where what is left of the oldest
// one must fit the room beside the others.
func (r *Ring) allowWeighed(
	word, oldest uint64, now tallyring.Tick, cost, limit, room uint64,
) bool {
	if !r.packed.weighs(oldest, now, room) {
		return false
	}
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.RingCount)
	}
	return r.word.CompareAndSwap(word, word+cost) || r.allowSlow(now, cost, limit)
}

// allowTaggedWeighed is allowWeighed for a ring of several words.
func (r *Ring) allowTaggedWeighed(
	head, oldest uint64, now tallyring.Tick, cost, limit, room uint64,
) bool {
	switch r.tagged.tryWeighed(r.words, head, now, cost, oldest, room) {
	case Admitted:
		return true
	case Denied:
		return false
	}
	return r.allowTaggedSlow(now, cost, limit)
}

// allowSlow is Allow for a packed ring where a glance does not tell. An attempt is repeated only
// when another event was counted in between, so someone made progress.
func (r *Ring) allowSlow(now tallyring.Tick, cost, limit uint64) bool {
	for {
		word := r.word.Load()
		next, ok := r.packed.Next(word, now, cost, limit)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingCount)
		}
		if next == word || r.word.CompareAndSwap(word, next) {
			return ok
		}
	}
}

// allowTaggedSlow is Allow for a ring of several words. It repeats an attempt only when another
// goroutine has counted something, or a rotation has gone a step further.
func (r *Ring) allowTaggedSlow(now tallyring.Tick, cost, limit uint64) bool {
	for {
		verdict := r.tagged.Try(r.words, r.words[0].Load(), now, cost, limit)
		if verdict != Again {
			return verdict == Admitted
		}
	}
}

// Take is Allow with the whole answer.
func (r *Ring) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	for {
		head := r.words[0].Load()
		if r.word == nil {
			d, verdict := r.tagged.TryTake(r.words, head, now, cost, limit)
			if verdict != Again {
				return d
			}
			continue
		}
		next, d := r.packed.Take(head, now, cost, limit)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingCount)
		}
		if next == head || r.word.CompareAndSwap(head, next) {
			return d
		}
	}
}

// Add counts events without deciding. They go into the bucket of now, late or not; if that has left
// the ring they are dropped, and Add returns false.
func (r *Ring) Add(now tallyring.Tick, count uint64) bool {
	for {
		head := r.words[0].Load()
		if r.word == nil {
			verdict := r.tagged.TryAdd(r.words, head, now, count)
			if verdict != Again {
				return verdict == Admitted
			}
			continue
		}
		next, ok := r.packed.Add(head, now, count)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingCount)
		}
		if next == head || r.word.CompareAndSwap(head, next) {
			return ok
		}
	}
}

// Read returns what the window holds at now, with its error.
func (r *Ring) Read(now tallyring.Tick) tallyring.Reading {
	for {
		head := r.words[0].Load()
		if r.word != nil {
			return r.packed.Read(head, now)
		}
		reading, verdict := r.tagged.TryRead(r.words, head, now)
		if verdict != Again {
			return reading
		}
	}
}

// Estimate returns the weighted count of the window at now.
func (r *Ring) Estimate(now tallyring.Tick) float64 { return r.Read(now).Estimate }

// Refund takes back count events that were counted at the tick at, which is Decision.At of the
// event. It never takes more than the bucket holds, and does nothing once the bucket has left the
// ring or is saturated.
func (r *Ring) Refund(at tallyring.Tick, count uint64) {
	for {
		head := r.words[0].Load()
		if r.word == nil {
			if r.tagged.TryRefund(r.words, head, at, count) != Again {
				return
			}
			continue
		}
		next := r.packed.Refund(head, at, count)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.RingCount)
		}
		if next == head || r.word.CompareAndSwap(head, next) {
			return
		}
	}
}
