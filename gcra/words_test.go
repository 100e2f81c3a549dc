package gcra

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// What a table relies on, as the package comment states it.

// walks repeats a test of a walk, and goes on for long until it has seen what is to be seen.
func walks(seen func() bool, test func()) {
	for n := 0; n < rounds(30) || n < 5000 && !seen(); n++ {
		test()
	}
}

// walk drives a word through random operations, and calls see with each step.
func walk(t *testing.T, s shape, operations int, see func(before, after uint64, o operation)) {
	p := newPair(t, s, "of a walk")
	g := generator{rng: rand.New(rand.NewPCG(rand.Uint64(), 6))}
	p.latest = tallyring.Tick(rand.Int64N(1 << 61))
	p.first = max(p.latest-g.before(), 0)
	for range operations {
		o, before := g.next(p), p.word
		switch o.verb {
		case allowVerb, takeVerb:
			p.word, _ = p.rate.Next(p.word, o.now, o.cost, o.burst)
		case addVerb:
			p.word, _ = p.rate.Add(p.word, o.now, o.cost)
		case refundVerb:
			p.word = p.rate.Refund(p.word, o.now, o.cost)
		}
		p.latest = max(p.latest, o.now)
		see(before, p.word, o)
	}
}

// TestIndexNeverMovesBack walks words of every shape: the mark stays free, no index is older than
// the one before, none is newer than the tick's, and a refund leaves it as it is.
func TestIndexNeverMovesBack(t *testing.T) {
	for _, s := range shapes {
		r, moves, refunds := s.rate(t), 0, 0
		walks(func() bool { return min(moves, refunds) > 0 }, func() {
			walk(t, s, 200, func(before, after uint64, o operation) {
				require.Zero(t, after>>63, "%+v: mark in %#x", s, after)
				if before == 0 || after == before {
					return
				}
				shift := r.IndexShift()
				ahead := int64((after>>shift-before>>shift)<<r.far) >> r.far
				require.GreaterOrEqual(t, ahead, int64(0), "%+v: %#x to %#x", s, before, after)
				if ahead > 0 {
					require.Equal(t, r.Index(o.now), after>>shift, "%+v: %+v", s, o)
					require.NotEqual(t, refundVerb, o.verb)
					moves++
				} else if o.verb == refundVerb {
					refunds++
				}
			})
		})
		require.Positive(t, min(moves, refunds), "%+v: no turn, or no refund", s)
	}
}

// TestExpiredIsFull takes words of every shape, however they came about, to the ticks around the
// start of the second span after theirs. Expired turns true exactly there, the bucket is full, and
// each decision is that of a new one.
func TestExpiredIsFull(t *testing.T) {
	for _, s := range shapes {
		r, nearly := s.rate(t), 0
		walks(func() bool { return nearly > 0 }, func() {
			walk(t, s, 40, func(_, word uint64, o operation) {
				index := r.Units(max(o.now, 0)) >> r.spanBits
				if word == 0 || r.behind(word, r.Units(max(o.now, 0))) != 0 {
					return
				}
				from := r.wait(uint64(max(o.now, 0)), (index+2)<<r.spanBits-r.Units(max(o.now, 0)))
				now := max(o.now, 0) + tallyring.Tick(from)
				if now < 0 {
					return
				}
				require.True(t, r.Expired(word, now), "%+v: %#x at %d", s, word, now)
				require.False(t, r.Expired(word, now-1), "%+v: %#x at %d", s, word, now-1)
				require.Zero(t, r.Read(word, now), "%+v: %#x at %d", s, word, now)
				next, d := r.Take(word, now, 1, s.burst)
				fresh, want := r.Take(0, now, 1, s.burst)
				require.Equal(t, want, d)
				require.Equal(t, fresh, next)
				if word&(r.newer-1) > r.inSpan {
					nearly++ // it was due in the span between
				}
			})
		})
		require.Positive(t, nearly, "%+v: no word reached into the next span", s)
	}
}

// TestGlanceDecidesAsTheLongWay takes the parts of the shortest decision to words of every shape,
// at ticks in their span and beside: they know which those are, whatever the bits above, and decide
// as the long way does. A word with the mark is in no span.
func TestGlanceDecidesAsTheLongWay(t *testing.T) {
	for _, s := range shapes {
		r, decided, refused := s.rate(t), 0, 0
		walks(func() bool { return min(decided, refused) > 0 }, func() {
			walk(t, s, 60, func(_, word uint64, o operation) {
				units := r.Units(max(o.now, 0))
				due := r.Due(word, units)
				require.Equal(t, r.behind(word, units) == 0, r.Newest(due), "%+v: %#x", s, word)
				require.False(t, r.Newest(r.Due(word|1<<63, units)), "%+v: %#x", s, word)
				if !r.Newest(due) || !r.Plain(o.cost, o.burst) {
					return
				}
				want, ok := r.nextSlow(word, units, o.cost, o.burst)
				debt := r.Debt(due, units, o.cost)
				require.Equal(t, ok, debt <= r.Depth(o.burst), "%+v: %#x, %+v", s, word, o)
				if ok {
					require.Equal(t, want, word-due+r.Elapsed(units)+debt)
				}
				decided, refused = decided+reached(ok), refused+reached(!ok)
			})
		})
		require.Positive(t, min(decided, refused), "%+v", s)
	}
}

// TestNoWordComesBackAfterTakeover gives a cell from key to key, each time it has expired, as a
// table does: the next key starts with nothing but the index. Keys are charged, overcharged and
// refunded at ticks that are multiples of the interval, so that words repeat within one key's life
// all the time; none is ever seen in two lives, and no refund of an earlier life changes a word.
func TestNoWordComesBackAfterTakeover(t *testing.T) {
	s := shape{1, 1 << 20, 64}
	r := s.rate(t)
	rng := rand.New(rand.NewPCG(rand.Uint64(), 7))
	lives := map[uint64]int{}
	repeated, stale := 0, 0
	word, now := r.Index(1<<40)<<r.IndexShift(), tallyring.Tick(1<<40)
	var old []tallyring.Tick
	for life := range rounds(500) {
		var events []tallyring.Tick
		for range 60 {
			now += tallyring.Tick(rng.Int64N(4)) << 20
			at := now - tallyring.Tick(rng.Int64N(3))<<20
			switch rng.IntN(4) {
			case 0:
				word, _ = r.Add(word, at, 1+rng.Uint64N(80))
				events = append(events, at)
			case 1:
				word = r.Refund(word, at, rng.Uint64N(80))
			default:
				next, d := r.Take(word, at, 1, 64)
				word, events = next, append(events, d.At)
			}
			if before, seen := lives[word]; seen {
				require.Equal(t, life, before, "%#x came back", word)
				repeated++
			}
			lives[word] = life
			if len(old) > 0 {
				require.Equal(t, word, r.Refund(word, old[rng.IntN(len(old))], 1))
				stale++
			}
		}
		for !r.Expired(word, now) {
			now += tallyring.Tick(rng.Int64N(1 << 28))
		}
		now = now >> 20 << 20
		word, old = r.Index(now)<<r.IndexShift(), events
		for !r.Expired(r.Index(old[0])<<r.IndexShift(), now) {
			old = old[1:]
		}
	}
	require.Positive(t, min(repeated, stale), "no word ever repeated, or no refund was late")
}

// TestSpanFollowsTheBurst states how long a word is told apart: one span at least, two at most.
func TestSpanFollowsTheBurst(t *testing.T) {
	for _, c := range []struct {
		shape
		span time.Duration
	}{
		{shape{10, time.Minute, 10}, 1 << 36},
		{shape{1000, time.Second, 1000}, 1 << 30},
		{shape{7, time.Second, 1}, (1<<30 + 6) / 7},
		{shape{1, time.Hour, 24}, 1 << 47},
	} {
		r := c.rate(t)
		require.Equal(t, c.span, r.Span(), "%+v", c)
		word, ok := r.Next(0, 0, c.burst, c.burst)
		require.True(t, ok)
		require.False(t, r.Expired(word, 2*tallyring.Tick(c.span)-2))
		require.True(t, r.Expired(word, 2*tallyring.Tick(c.span)))
	}
}
