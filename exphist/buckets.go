package exphist

import "math"

// never is the place of an overflow that did not happen: before every place.
const never = math.MinInt64

// buckets is the exponential histogram: for each bucket its end, which is the place of its newest
// event, a tick or the number of an event. It knows neither locks nor limits. Places are given in
// ascending order, and it is owned by whoever holds the lock around it.
//
// The buckets of one level lie in a ring, oldest at its head. No bucket of a level ends later than
// one of a lower level. Ends are kept modulo 2^endBits: all of them lie in (newest-span, newest],
// so that newest tells what they are, however long nothing was counted.
type buckets struct {
	shape
	ends   fields // slots for each level
	rings  fields // {oldest bucket's slot | number of buckets} for each level
	newest int64  // the latest place at which something was counted; never moves back
	total  uint64 // the sizes of all buckets, at most holds
	over   int64  // the latest place at which something did not fit
	top    int    // the highest level with a bucket, or 0
}

// ring is the buckets of one level.
type ring struct{ oldest, count int }

func newBuckets(s shape) buckets {
	b := buckets{shape: s, over: never}
	cells := s.slots * s.levels
	words := make([]uint64, wordsFor(cells, s.endBits())+wordsFor(s.levels, s.ringBits()))
	b.ends, words = newFields(words, cells, s.endBits())
	b.rings, _ = newFields(words, s.levels, s.ringBits())
	return b
}

func (b *buckets) ring(level int) ring {
	packed := b.rings.at(level)
	width := b.rings.width / 2
	return ring{int(packed >> width), int(packed & (1<<width - 1))}
}

func (b *buckets) setRing(level int, r ring) {
	b.rings.set(level, uint64(r.oldest)<<(b.rings.width/2)|uint64(r.count))
}

// slot returns the place in the row of ends of bucket i of a level, 0 being the oldest.
func (b *buckets) slot(level int, r ring, i int) int {
	in := r.oldest + i
	if in >= b.slots {
		in -= b.slots
	}
	return level*b.slots + in
}

// end returns the end of bucket i of a level.
func (b *buckets) end(level int, r ring, i int) int64 {
	kept := b.ends.at(b.slot(level, r, i))
	return b.newest - int64((uint64(b.newest)-kept)&b.ends.mask)
}

// view is the buckets that are in the window at one place: those of level and below, without the
// skip oldest of level.
type view struct {
	level, skip int
	total       uint64
}

// all is the view of every bucket that is held.
func (b *buckets) all() view { return view{level: b.top, total: b.total} }

// live returns the view of the buckets that end after cut. It writes nothing, since only counting
// may forget: a place that comes after a reading may be before it.
func (b *buckets) live(cut int64) view {
	v := b.all()
	for ; v.total > 0; v.level-- {
		r := b.ring(v.level)
		if b.end(v.level, r, 0) > cut {
			return v
		}
		if b.end(v.level, r, r.count-1) > cut {
			v.skip = b.after(cut, v.level, r)
			v.total -= uint64(v.skip) << v.level
			return v
		}
		v.total -= uint64(r.count) << v.level
	}
	return view{}
}

// after returns the first bucket of a level that ends after cut, where the oldest does not and the
// newest does.
func (b *buckets) after(cut int64, level int, r ring) int {
	// Bucket gone does not end after cut, bucket here does. The distance halves.
	gone, here := 0, r.count-1
	for here-gone > 1 {
		middle := gone + (here-gone)/2
		if b.end(level, r, middle) > cut {
			here = middle
		} else {
			gone = middle
		}
	}
	return here
}

// count counts a weight above 0 at place, which is not before newest, where v is what is live then.
// It forgets what is not. What does not fit is not counted, and place is kept as over: when over
// leaves the window all that was there leaves too, and what is held is right again.
func (b *buckets) count(place int64, v view, weight uint64) {
	b.forget(v)
	b.newest = place
	fits := min(weight, b.holds-b.total)
	if fits < weight {
		b.over = place
	}
	b.total += fits
	b.pour(uint64(place), fits)
}

// forget drops all buckets that are not in the view.
func (b *buckets) forget(v view) {
	if v.total == b.total {
		return
	}
	for level := b.top; level > v.level; level-- {
		b.setRing(level, ring{})
	}
	r := ring{}
	if v.total > 0 {
		r = b.ring(v.level)
		r = ring{b.slot(0, r, v.skip), r.count - v.skip}
	}
	b.setRing(v.level, r)
	b.top, b.total = v.level, v.total
}
