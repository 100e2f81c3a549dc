package atomicring

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tallyring/tallyring"
)

// verb is one method of a ring.
type verb uint8

const (
	addVerb verb = iota
	allowVerb
	takeVerb
	refundVerb
	verbs
)

// operation is one call. What it is given follows from the history before it only where a
// generator makes it, so that a list of operations can be replayed.
type operation struct {
	verb        verb
	now         tallyring.Tick
	cost, limit uint64
}

func (o operation) String() string {
	name := [...]string{"Add", "Allow", "Take", "Refund"}[o.verb]
	if o.verb == addVerb || o.verb == refundVerb {
		return fmt.Sprintf("%s(%d, %d)", name, o.now, o.cost)
	}
	return fmt.Sprintf("%s(%d, %d, %d)", name, o.now, o.cost, o.limit)
}

// form is one way to lay out a ring. New chooses between them; the tests drive each.
type form struct {
	name     string
	tagged   bool
	summed   bool
	markBits int
}

var forms = []form{
	{name: "packed"}, {name: "tagged", tagged: true},
	{name: "packed/marked", markBits: 1}, {name: "tagged/marked", tagged: true, markBits: 1},
	{name: "tagged/marked twice", tagged: true, markBits: 2},
	{name: "summed", tagged: true, summed: true},
	{name: "summed/marked", tagged: true, summed: true, markBits: 1},
}

// build returns an empty ring of the form, or nil where the form does not hold the window.
func (f form) build(w tallyring.Window) *Ring {
	if f.tagged {
		g, err := NewTagged(w, f.markBits)
		if err != nil {
			return nil
		}
		if f.summed && w.Slots > 1 {
			g = g.Summed()
		}
		return ringOf(g)
	}
	p, err := NewPacked(w, f.markBits)
	if err != nil {
		return nil
	}
	words := make([]atomic.Uint64, 1)
	return &Ring{word: &words[0], words: words, packed: p}
}

// ringOf returns an empty ring of a tagged layout.
func ringOf(g Tagged) *Ring {
	r := &Ring{words: make([]atomic.Uint64, g.Words()), tagged: g}
	if g.first > 1 {
		r.sums = sumsOf(r.words)
	}
	return r
}

// raw returns the words of a ring.
func raw(r *Ring) []uint64 {
	words := make([]uint64, len(r.words))
	for i := range words {
		words[i] = r.words[i].Load()
	}
	return words
}

// pair drives a ring and its model through one history and compares them after each step.
type pair struct {
	t       testing.TB
	ring    *Ring
	model   *model
	history []operation
	latest  tallyring.Tick // latest tick counted in the newest bucket
	last    tallyring.Tick // latest tick that the history may reach
	seed    string
}

func newPair(t testing.TB, r *Ring, w tallyring.Window, seed string) *pair {
	m := newModel(w, r.MaxLimit())
	m.forgets = func() bool { return slices.Max(raw(r)) == 0 }
	return &pair{t: t, ring: r, model: m, seed: seed}
}

// fail stops the test with all that is needed to repeat it.
func (p *pair) fail(format string, args ...any) {
	p.t.Helper()
	lines := make([]string, 0, 20)
	for _, o := range p.history[max(0, len(p.history)-12):] {
		lines = append(lines, o.String())
	}
	p.t.Fatalf("%s\nwindow %+v, seed %s, operation %d, the last:\n%s\nmodel %v, newest %d\nraw %x",
		fmt.Sprintf(format, args...), p.model.window, p.seed, len(p.history),
		strings.Join(lines, "\n"), p.model.counts, p.model.newest, raw(p.ring))
}

// do runs one operation on both.
func (p *pair) do(o operation) {
	p.t.Helper()
	p.history = append(p.history, o)
	before := raw(p.ring)
	got, want := p.result(o)
	if got != want {
		p.fail("got  %+v\nwant %+v", got, want)
	}
	counted := want.Allowed && o.cost > 0
	if !counted && o.verb != refundVerb && !slices.Equal(before, raw(p.ring)) {
		p.fail("an event that was not counted has changed the ring: it was %x", before)
	}
	if newest := p.model.newest; counted && nanosOf(want.At)/p.model.width() == newest {
		if nanosOf(p.latest)/p.model.width() != newest || p.latest < want.At {
			p.latest = want.At
		}
	}
}

// result returns what both answer, in the one shape that holds every verb's answer.
func (p *pair) result(o operation) (got, want tallyring.Decision) {
	switch o.verb {
	case addVerb:
		got.Allowed, want.Allowed = p.ring.Add(o.now, o.cost), p.model.add(o.now, o.cost)
		got.At, want.At = max(o.now, 0), max(o.now, 0)
	case allowVerb:
		bucket, elapsed := p.model.view(nanosOf(o.now))
		at := tallyring.Tick(bucket*p.model.width() + elapsed)
		got.Allowed = p.ring.Allow(o.now, o.cost, o.limit)
		want.Allowed = p.model.allow(o.now, o.cost, o.limit)
		got.At, want.At = at, at
	case takeVerb:
		got = p.ring.Take(o.now, o.cost, o.limit)
		want = p.model.take(o.now, o.cost, o.limit)
	case refundVerb:
		p.ring.Refund(o.now, o.cost)
		p.model.refund(o.now, o.cost)
	}
	return got, want
}

// compare reads both at now and asks both for a decision that changes nothing.
func (p *pair) compare(now tallyring.Tick, limit uint64) {
	p.t.Helper()
	p.compareReading(now)
	before := raw(p.ring)
	peek := operation{takeVerb, now, 0, limit}
	got, want := p.result(peek)
	if got != want {
		p.fail("%v:\ngot  %+v\nwant %+v", peek, got, want)
	}
	if limit > 0 && want.Remaining < want.Limit {
		denied := operation{takeVerb, now, want.Remaining + 1, limit}
		if got, want = p.result(denied); got != want || got.Allowed {
			p.fail("%v:\ngot  %+v\nwant %+v, denied", denied, got, want)
		}
	}
	if !slices.Equal(before, raw(p.ring)) {
		p.fail("a peek or a denial has changed the ring: it was %x", before)
	}
}

func (p *pair) compareReading(now tallyring.Tick) {
	p.t.Helper()
	if p.model.used {
		expired := p.ring.packed.Expired
		if p.ring.word == nil {
			expired = p.ring.tagged.Expired
		}
		gone := nanosOf(now)/p.model.width() >= p.model.newest+p.model.slots()
		if expired(p.ring.words[0].Load(), now) != gone {
			p.fail("expired at %d, want %t", now, gone)
		}
	}
	got := p.ring.Read(now)
	low, high, exact := p.model.read(now)
	if got.Low != low || got.High != high || got.Estimate != p.ring.Estimate(now) {
		p.fail("Read(%d) is %+v, want low %d and high %d", now, got, low, high)
	}
	if got.Estimate < float64(low) || got.Estimate > float64(high) {
		p.fail("Read(%d) is %v, which is not within its own bounds", now, got)
	}
	// Both factors, the product, the quotient and the sum are rounded: five times 2^-53 and a
	// little.
	off := new(big.Rat).SetFloat64(got.Estimate)
	off.Abs(off.Sub(off, exact))
	if off.Cmp(exact.Mul(exact, big.NewRat(6, 1<<53))) > 0 {
		p.fail("Read(%d) is %v, which is %s off", now, got, off.FloatString(9))
	}
}

// compareAround compares the state at now, where the tick is new, and when the newest bucket
// turns.
func (p *pair) compareAround(rng *rand.Rand, now tallyring.Tick, limit uint64) {
	p.t.Helper()
	p.compare(now, limit)
	if p.model.window.Slots > 20 && rng.IntN(8) > 0 {
		return
	}
	width := tallyring.Tick(p.model.width())
	for _, wait := range []tallyring.Tick{
		tallyring.Tick(rng.Int64N(int64(width))),
		width - p.latest%width - tallyring.Tick(rng.IntN(2)),
		tallyring.Tick(p.model.window.Length()) + tallyring.Tick(rng.IntN(3)) - 1,
	} {
		if p.latest <= p.last-wait {
			p.compare(p.latest+wait, limit)
		}
	}
}

// lastTick returns the tick up to which a history may go that begins at from, or ten years
// before: twenty years from first to last, less a window. Beyond that a slot that was last
// written at the beginning may carry the tag of a bucket that is in the ring again.
func lastTick(from tallyring.Tick, w tallyring.Window) tallyring.Tick {
	span := tallyring.Tick(tallyring.MaxLength) - tallyring.Tick(w.Length())
	if from > math.MaxInt64-span {
		return math.MaxInt64
	}
	return from + span
}

// generator makes the operations of one history.
type generator struct {
	rng   *rand.Rand
	limit uint64 // the one asked for most
	wild  bool   // costs and limits from the whole range
}

// next returns an operation for the state of p.
func (g *generator) next(p *pair) operation {
	o := operation{verb: verb(g.rng.IntN(int(verbs))), now: g.tick(p), limit: g.limit}
	if g.rng.IntN(8) == 0 {
		o.limit = g.someLimit(p)
	}
	o.cost = g.someCost(p, o)
	if o.verb == refundVerb && g.rng.IntN(2) == 0 {
		o.now = g.counted(p, o.now)
	}
	return o
}

// tick returns one near the latest that was counted, or a whole gap away, never more than ten
// years.
func (g *generator) tick(p *pair) tallyring.Tick {
	w := p.model.window
	width, length := int64(w.Width), int64(w.Length())
	latest, far := int64(p.latest), int64(tallyring.MaxLength)
	toNext := width - latest%width
	var step int64
	switch g.rng.IntN(24) {
	case 0, 1, 2, 3:
		step = 0
	case 4, 5, 6, 7, 8:
		step = g.rng.Int64N(width)
	case 9, 10:
		step = 1
	case 11, 12, 13:
		step = toNext + int64(g.rng.IntN(3)) - 1
	case 14:
		step = g.rng.Int64N(length + 2*width)
	case 15:
		step = length + int64(g.rng.IntN(3)) - 1
	case 16:
		step = [...]int64{2 * length, int64(w.Slots) * width, 10 * 3600e9}[g.rng.IntN(3)]
	case 17:
		step = far >> min(g.rng.IntN(8), g.rng.IntN(8))
	case 18:
		step = -1
	case 19, 20:
		step = -g.rng.Int64N(width + 1)
	case 21:
		step = -g.rng.Int64N(length + 2*width)
	case 22:
		step = -far >> min(g.rng.IntN(8), g.rng.IntN(8))
	case 23:
		step = int64(g.rng.IntN(3)) - 1 - latest
	}
	step = min(max(step, -far), far)
	if latest > int64(p.last)-max(step, 0) {
		return p.last
	}
	if latest+step < 0 && latest > far {
		return tallyring.Tick(latest)
	}
	return tallyring.Tick(latest + step)
}

// counted returns a tick in a bucket that counts something, or now.
func (g *generator) counted(p *pair, now tallyring.Tick) tallyring.Tick {
	var buckets []uint64
	for i, n := range p.model.counts {
		if n > 0 {
			buckets = append(buckets, i)
		}
	}
	if len(buckets) == 0 {
		return now
	}
	slices.Sort(buckets) // a map has no order to repeat
	width := p.model.width()
	nanos := buckets[g.rng.IntN(len(buckets))]*width + g.rng.Uint64N(width)
	return tallyring.Tick(min(nanos, math.MaxInt64))
}

func (g *generator) someLimit(p *pair) uint64 {
	most := p.ring.MaxLimit()
	some := []uint64{0, 1, 2, g.rng.Uint64N(20), g.limit + 1, g.limit - 1, most, most - 1,
		most + 1, tallyring.Unlimited}
	if g.wild {
		some = append(some, 1<<63, 1<<63+1, tallyring.Unlimited-1, g.rng.Uint64())
	}
	return some[g.rng.IntN(len(some))]
}

func (g *generator) someCost(p *pair, o operation) uint64 {
	if g.wild && g.rng.IntN(6) == 0 {
		most := p.ring.MaxLimit()
		some := []uint64{1 << 63, math.MaxUint64, math.MaxUint64 - 1, most, most + 1, most - 1,
			most / 2, most + 2, g.rng.Uint64()}
		return some[g.rng.IntN(len(some))]
	}
	left := p.model.remaining(nanosOf(o.now), min(o.limit, p.ring.MaxLimit()))
	some := []uint64{0, 1, 1, 1, 2, left, left + 1, left / 2, g.rng.Uint64N(g.limit + 1)}
	if o.verb != addVerb {
		some = append(some, o.limit, o.limit+1)
	}
	return some[g.rng.IntN(len(some))]
}
