package gcra

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// shape is a rate and the largest burst that its words are laid out for.
type shape struct {
	events uint64
	per    time.Duration
	burst  uint64
}

func (s shape) rate(t testing.TB) *Rate {
	t.Helper()
	r, err := NewRate(s.events, s.per, s.burst)
	require.NoError(t, err)
	return &r
}

// shapes are rates of every kind: whole units to the nanosecond and not, an event per nanosecond
// and more, an event in ten years, the largest bursts.
var shapes = []shape{
	{1, time.Second, 2},
	{10, time.Second, 10},
	{3, time.Second, 5},
	{7, time.Minute, 1},
	{17, time.Second, 4},
	{999_983, time.Minute, 1000},
	{980_000_000, 10 * time.Second, 980_000_000},
	{1, 1, 1 << 40},
	{7, 1, 3},
	{1_000_000_007, time.Second, 1_000_000},
	{6_999_999_999, time.Second, mostBurst},
	{1, tallyring.MaxLength, 1},
	{11, tallyring.MaxLength, 11},
	{1001, 1000, 1 << 54},
	{1, 1 << 20, 64},
}

type verb uint8

const (
	allowVerb verb = iota
	takeVerb
	addVerb
	refundVerb
	verbs
)

type operation struct {
	verb        verb
	now         tallyring.Tick
	cost, burst uint64
}

// pair is a word and the model beside it.
type pair struct {
	t      testing.TB
	rate   *Rate
	word   uint64
	model  *model
	latest tallyring.Tick
	first  tallyring.Tick // no tick is earlier, or later by more than MaxLength
	story  string
}

func newPair(t testing.TB, s shape, story string) *pair {
	r := s.rate(t)
	return &pair{t: t, rate: r, model: newModel(s.events, uint64(s.per), r),
		story: fmt.Sprintf("%+v %s", s, story)}
}

// nanosOf returns a tick as it counts: a negative one as 0.
func nanosOf(now tallyring.Tick) *big.Int { return whole(uint64(max(now, 0))) }

// after returns the tick so many nanoseconds after the latest, or the nearest that a history may
// have: its ticks are all told apart.
func (p *pair) after(nanos int64) tallyring.Tick {
	if nanos <= 0 {
		return p.latest + max(tallyring.Tick(nanos), p.first-p.latest)
	}
	last := p.first + min(tallyring.Tick(tallyring.MaxLength), math.MaxInt64-max(p.first, 0))
	return p.latest + min(tallyring.Tick(nanos), last-p.latest)
}

// do runs one operation on both and compares the answers, and then what can be seen at its tick.
func (p *pair) do(o operation) {
	p.t.Helper()
	nanos := nanosOf(o.now)
	says := func() string { return fmt.Sprintf("%s: %+v on %#x", p.story, o, p.word) }
	switch o.verb {
	case allowVerb:
		next, got := p.rate.Next(p.word, o.now, o.cost, o.burst)
		require.Equal(p.t, p.model.allow(nanos, o.cost, o.burst), got, says())
		p.word = next
	case takeVerb:
		next, d := p.rate.Take(p.word, o.now, o.cost, o.burst)
		p.answer(o, d)
		p.word = next
	case addVerb:
		next, all := p.rate.Add(p.word, o.now, o.cost)
		require.Equal(p.t, p.model.charge(nanos, o.cost), all, says())
		p.word = next
	case refundVerb:
		p.word = p.rate.Refund(p.word, o.now, o.cost)
		if o.now != tallyring.Uncounted {
			p.model.refund(nanos, o.cost)
		}
		// Only a refund could take a word back to 0, which is a bucket that was never used.
		p.model.used = p.model.used && p.word != 0
	}
	p.latest = max(p.latest, o.now)
	p.compare(o.now)
}

// answer runs the model on the event that d answers, and compares the whole answer.
func (p *pair) answer(o operation, d tallyring.Decision) {
	p.t.Helper()
	nanos, m := nanosOf(o.now), p.model
	at, _ := m.view(nanos)
	want := d // the ticks and times are looked at below
	want.Allowed = m.admits(nanos, o.cost, o.burst)
	all := !want.Allowed || m.charge(nanos, o.cost)
	want.Limit, want.Remaining = m.effective(o.burst), m.remaining(nanos, o.burst)
	require.Equal(p.t, want, d, "%s: %+v", p.story, o)

	require.Equal(p.t, all, d.At != tallyring.Uncounted, "%s: %+v", p.story, o)
	if all {
		p.countedAt(o, d.At, at)
	}
	switch {
	case d.Allowed:
		require.Zero(p.t, d.RetryAfter, "%s: %+v", p.story, o)
	case o.cost > d.Limit || d.Limit == 0:
		require.Equal(p.t, tallyring.Never, d.RetryAfter, "%s: %+v", p.story, o)
	default:
		require.Positive(p.t, d.RetryAfter, "%s: %+v", p.story, o)
		p.edge(o.now, d.RetryAfter, func(nanos *big.Int) bool {
			return m.admits(nanos, o.cost, o.burst)
		})
	}
	p.edge(o.now, d.ResetAfter, func(nanos *big.Int) bool { return m.debt(nanos).Sign() == 0 })
}

// countedAt fails unless counted is the first tick from that of the event on that is no earlier
// than the instant as of which it was decided.
func (p *pair) countedAt(o operation, counted tallyring.Tick, decided *big.Rat) {
	p.t.Helper()
	at, _ := p.model.clock(nanosOf(counted))
	require.GreaterOrEqual(p.t, counted, max(o.now, 0), "%s: %+v", p.story, o)
	require.True(p.t, at.Cmp(decided) >= 0 || counted == math.MaxInt64, "%s: %+v", p.story, o)
	if counted > max(o.now, 0) {
		before, _ := p.model.clock(nanosOf(counted - 1))
		require.Negative(p.t, before.Cmp(decided), "%s: %+v", p.story, o)
	}
}

// edge fails unless what the model says of the tick that lies wait after now becomes true there.
func (p *pair) edge(now tallyring.Tick, wait time.Duration, holds func(*big.Int) bool) {
	p.t.Helper()
	at := nanosOf(now)
	at.Add(at, whole(uint64(wait)))
	require.True(p.t, holds(at), "%s: from %d after %d", p.story, now, wait)
	if wait > 0 {
		require.False(p.t, holds(at.Sub(at, whole(1))), "%s: from %d before %d", p.story, now, wait)
	}
}

// compare compares the whole state, as it can be seen at one tick.
func (p *pair) compare(now tallyring.Tick) {
	p.t.Helper()
	owed := p.model.debt(nanosOf(now))
	events := new(big.Rat).Quo(owed, p.model.interval)
	estimate, _ := events.Float64()
	low := floored(events, big.NewRat(1, 1)).Uint64()
	want := tallyring.Reading{Low: low, High: low}
	if !events.IsInt() {
		want.High++
	}
	got := p.rate.Read(p.word, now)
	want.Estimate = got.Estimate
	require.Equal(p.t, want, got, "%s: read at %d", p.story, now)
	require.InEpsilon(p.t, estimate+1, got.Estimate+1, 1e-12, "%s: read at %d", p.story, now)

	debt := p.rate.standing(p.word, p.rate.Units(max(now, 0))).debt
	require.Zero(p.t, owed.Cmp(times(whole(debt), p.model.unit)),
		"%s: debt at %d is %d units, want %v of %v", p.story, now, debt, owed, p.model.unit)
	require.Zero(p.t, p.word>>63, "%s: the mark", p.story)
}

// generator makes operations that meet edges often.
type generator struct {
	rng *rand.Rand
}

func (g generator) next(p *pair) operation {
	return operation{
		verb:  verb(g.rng.IntN(int(verbs))),
		now:   g.tick(p),
		cost:  g.cost(p.rate.maxBurst),
		burst: g.burst(p.rate.maxBurst),
	}
}

// tick returns a tick after or before the latest: by so many intervals, spans or nanoseconds, or
// where what is owed is paid for, or one beside.
func (g generator) tick(p *pair) tallyring.Tick {
	span := int64(p.rate.Span())
	interval := max(int64(p.rate.wait(0, p.rate.perEvent)), 1)
	var step int64
	switch g.rng.IntN(10) {
	case 0:
	case 1, 2:
		step = g.rng.Int64N(1 + min(interval, math.MaxInt64/64)*4)
	case 3:
		step = g.rng.Int64N(2*span + 2)
	case 4:
		step = span - int64(p.latest)%span + g.rng.Int64N(3) - 1
	case 5:
		step = -g.rng.Int64N(2*span + 2)
	case 6:
		step = -g.rng.Int64N(1 + min(interval, math.MaxInt64/64)*4)
	case 7:
		step = g.rng.Int64N(int64(tallyring.MaxLength))
		if g.rng.IntN(20) > 0 {
			step = g.rng.Int64N(1000)
		}
	default:
		_, d := p.rate.Take(p.word, p.latest, 0, tallyring.Unlimited)
		step = int64(d.ResetAfter)/(1+g.rng.Int64N(3)) + g.rng.Int64N(3) - 1
	}
	return p.after(step)
}

// before returns how far ticks of a history may go back before its first.
func (g generator) before() tallyring.Tick {
	return tallyring.Tick(g.rng.Int64N(int64(tallyring.MaxLength)) >> (g.rng.IntN(2) * 50))
}

func (g generator) cost(most uint64) uint64 {
	switch g.rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return g.rng.Uint64N(most + 2)
	case 2:
		return most + g.rng.Uint64N(2)
	case 3:
		return g.rng.Uint64()
	}
	return 1 + g.rng.Uint64N(min(most, 4))
}

func (g generator) burst(most uint64) uint64 {
	switch g.rng.IntN(8) {
	case 0:
		return []uint64{0, tallyring.Unlimited, tallyring.Unlimited - 1}[g.rng.IntN(3)]
	case 1:
		return most + g.rng.Uint64N(3) - 1
	case 2:
		return g.rng.Uint64N(most + 1)
	}
	return 1 + g.rng.Uint64N(min(most, 8))
}
