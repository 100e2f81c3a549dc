package exphist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/slidinglog"
)

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// demand is one kind of traffic that asks for more than the limit of 1000 per second: the gap
// before an event, and its cost.
type demand struct {
	name string
	next func(r *rand.Rand) (gap int64, cost uint64)
}

var demands = []demand{
	{"steady", func(r *rand.Rand) (int64, uint64) { return 300_000, 1 }},
	{"random", func(r *rand.Rand) (int64, uint64) { return r.Int64N(1_000_000), 1 + r.Uint64N(4) }},
	{"bursts", func(r *rand.Rand) (int64, uint64) {
		if r.IntN(500) > 0 {
			return 0, 1
		}
		return r.Int64N(400_000_000), 1
	}},
	{"large and small", func(r *rand.Rand) (int64, uint64) {
		if r.IntN(50) > 0 {
			return r.Int64N(2_000_000), 1
		}
		return 1, 200 + r.Uint64N(400)
	}},
}

// Goal: decisions keep the four bounds of the package comment: by High never above L in any
// trailing W and never a denial at L/(1+2 eps) or less, by the estimate never above L/(1-eps) and
// never a denial at L/(1+eps) or less.
// Method: demands above the limit; the admitted events go to the exact log, which is asked before
// and after each decision, beside a log that decides by itself. How much each admits is printed.
func TestDecisionsKeepTheirBounds(t *testing.T) {
	const limit = 1000
	t.Log("eps   by        demand           admitted  of the log's  largest trailing")
	for _, eps := range allEps {
		for _, byEstimate := range []bool{false, true} {
			above, needless := uint64(0), 0
			for _, d := range demands {
				r := newClosedLoop(t, eps, byEstimate, limit)
				random := newRandom(uint64(1 / eps))
				for range rounds(60_000) {
					gap, cost := d.next(random)
					r.decide(t, gap, cost)
				}
				above, needless = max(above, r.largest), needless+r.needless
				t.Logf("%-5v %-9s %-16s %8d  %.3f         %d", eps, r.side(), d.name,
					r.admitted, float64(r.admitted)/float64(r.logAdmitted), r.largest)
			}
			require.Positive(t, needless, "it never denied what the log would admit")
			require.Equal(t, byEstimate, above > limit, "largest trailing count %d", above)
		}
	}
}

// closedLoop is a histogram that decides, the exact log of what it admitted, and a log that decides
// on the same demand.
type closedLoop struct {
	*Histogram
	eps, most, least      float64
	limit, largest        uint64
	truth, log            *slidinglog.Log
	now                   int64
	admitted, logAdmitted uint64
	needless              int // denials of what the log of what was admitted would admit
}

func newClosedLoop(t *testing.T, eps float64, byEstimate bool, limit uint64) *closedLoop {
	r := &closedLoop{eps: eps, limit: limit}
	l := float64(limit)
	if r.most, r.least = l, l/(1+2*eps); byEstimate {
		r.Histogram = mustNew(t, time.Second, eps, limit, WithEstimate())
		r.most, r.least = l/(1-eps), l/(1+eps)
	} else {
		r.Histogram = mustNew(t, time.Second, eps, limit)
	}
	var err error
	r.truth, err = slidinglog.New(time.Second)
	require.NoError(t, err)
	r.log, err = slidinglog.New(time.Second)
	require.NoError(t, err)
	return r
}

func (r *closedLoop) side() string {
	if r.byEstimate {
		return "estimate"
	}
	return "High"
}

func (r *closedLoop) decide(t *testing.T, gap int64, cost uint64) {
	r.now += gap
	now := tallyring.Tick(r.now)
	if r.log.Allow(now, cost, r.limit) {
		r.logAdmitted += cost
	}
	before := r.truth.Read(now).High
	if r.Allow(now, cost, r.limit) {
		r.admitted += cost
		r.truth.Add(now, cost)
		r.largest = max(r.largest, before+cost)
		require.LessOrEqual(t, float64(before+cost), r.most)
		return
	}
	require.Greater(t, float64(before+cost), r.least)
	if before+cost <= r.limit {
		r.needless++
	}
	later := now + tallyring.Tick(r.Take(now, cost, r.limit).RetryAfter)
	if !r.byEstimate {
		require.LessOrEqual(t, r.truth.Read(later).High, r.limit-cost, "the log would deny then")
	}
}

// clone returns a histogram in the same state.
func clone(h *Histogram) *Histogram {
	c := &Histogram{buckets: h.buckets}
	c.ends.words, c.rings.words = slices.Clone(h.ends.words), slices.Clone(h.rings.words)
	return c
}

// Goal: RetryAfter, ResetAfter and Remaining are exact to the nanosecond and the event, also from a
// late tick and above 2^32.
// Method: random histograms; a denied event is tried on clones at now+RetryAfter, where it must
// pass, and 1 ns before, where it must not; the count is read at now+ResetAfter and 1 ns before;
// Remaining is tried, and one more.
func TestAnswersAreExact(t *testing.T) {
	const length = 1000
	random := newRandom(2)
	seen := map[string]int{}
	for range rounds(3000) {
		options := [][]Option{nil, {WithEstimate()}}[random.IntN(2)]
		eps, scale := []float64{0.5, 0.1, 0.02}[random.IntN(3)], uint64(1)<<random.IntN(40)
		h := mustNew(t, length, eps, 1<<50, options...)
		for at := tallyring.Tick(5000); at < 5000+2*length; {
			h.Add(at, 1+random.Uint64N(4*scale))
			at += tallyring.Tick(random.Uint64N(100))
		}
		limit := 1 + random.Uint64N(80*scale)
		cost := 1 + random.Uint64N(limit)
		now := 5000 + tallyring.Tick(random.Uint64N(3*length))
		d := clone(h).Take(now, cost, limit)
		after := clone(h)
		require.Equal(t, d.Allowed, after.Allow(now, cost, limit))
		require.False(t, clone(after).Allow(now, d.Remaining+1, limit))
		require.True(t, d.Remaining == 0 || clone(after).Allow(now, d.Remaining, limit))
		if d.ResetAfter > 0 {
			at := now + tallyring.Tick(d.ResetAfter)
			require.Zero(t, after.Read(at).High)
			require.NotZero(t, after.Read(at-1).High)
		}
		seen[fmt.Sprintf("allowed %v late %v", d.Allowed, now < d.At)]++
		if !d.Allowed {
			at := now + tallyring.Tick(d.RetryAfter)
			require.True(t, clone(h).Allow(at, cost, limit), "at %d", at)
			require.False(t, clone(h).Allow(at-1, cost, limit), "at %d", at-1)
		}
	}
	for _, allowed := range []bool{false, true} {
		for _, late := range []bool{false, true} {
			what := fmt.Sprintf("allowed %v late %v", allowed, late)
			require.Greater(t, seen[what], rounds(100)/2, what)
		}
	}
}
