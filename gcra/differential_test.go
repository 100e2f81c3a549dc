package gcra

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// origins returns first ticks: the ends of the range, wall time, and where a stored index begins
// again at 0, or at the half of its range.
func origins(r *Rate) []tallyring.Tick {
	from := []tallyring.Tick{0, 1, 788918400e9, 1767225600e9, math.MaxInt64 - 1e18,
		math.MaxInt64 - 1}
	for _, units := range []uint64{1 << 62, 1 << 61} {
		if turn := r.wait(0, units); turn < math.MaxInt64-1000 {
			from = append(from, tallyring.Tick(turn), tallyring.Tick(turn)-1,
				tallyring.Tick(turn)-tallyring.Tick(r.Span()))
		}
	}
	return from
}

// TestDifferential drives words of every shape, and the model in exact fractions beside them,
// through random histories, and compares every answer and, after each operation, all that can be
// seen of the state.
func TestDifferential(t *testing.T) {
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%d-per-%d-burst-%d", s.events, s.per, s.burst), func(t *testing.T) {
			t.Parallel()
			from := origins(s.rate(t))
			for i := range rounds(60) {
				history(t, s, from[i%len(from)], rand.Uint64(), 60)
			}
		})
	}
}

// TestDifferentialOfAnyRate is the same for rates and bursts of any size.
func TestDifferentialOfAnyRate(t *testing.T) {
	for range rounds(200) {
		s := anyShape(rand.New(rand.NewPCG(rand.Uint64(), 1)))
		from := origins(s.rate(t))
		history(t, s, from[rand.IntN(len(from))], rand.Uint64(), 40)
	}
}

// history runs one random history.
func history(t testing.TB, s shape, from tallyring.Tick, seed uint64, operations int) {
	g := generator{rng: rand.New(rand.NewPCG(seed, s.events))}
	p := newPair(t, s, fmt.Sprintf("seed %#x from %d", seed, from))
	p.latest, p.first = from, max(from-g.before(), -1)
	for range operations {
		p.do(g.next(p))
		p.compare(g.tick(p))
	}
}

// TestWaitsAreExact asks buckets in random states for waits, then proves each on a copy: the event
// is denied one nanosecond before and admitted then, the bucket is not full one nanosecond before
// and full then, and the cost remaining passes, one more not.
func TestWaitsAreExact(t *testing.T) {
	var waits, resets, remains int
	for _, s := range shapes {
		r := s.rate(t)
		rng := rand.New(rand.NewPCG(rand.Uint64(), s.burst))
		word, now := uint64(0), tallyring.Tick(rng.Int64N(1<<60))
		for range rounds(300) {
			if now > 1<<62 {
				word, now = 0, tallyring.Tick(rng.Int64N(1<<60))
			}
			// The burst is what the shape is for, and most costs a part of it.
			word, _ = r.Next(word, now, 1+rng.Uint64N(s.burst/3+1), s.burst)
			now += tallyring.Tick(rng.Uint64N(r.wait(0, r.perEvent) + 2))
			if rng.IntN(8) == 0 {
				now -= tallyring.Tick(rng.Uint64N(r.wait(0, r.perEvent)/2 + 1))
			}
			cost := rng.Uint64N(s.burst + 1)
			next, d := r.Take(word, now, cost, s.burst)
			passes := func(after uint64, cost uint64) bool {
				_, ok := r.Next(next, now+tallyring.Tick(after), cost, s.burst)
				return ok
			}
			if !d.Allowed {
				require.True(t, passes(uint64(d.RetryAfter), cost), "%+v %d %+v", s, now, d)
				require.False(t, passes(uint64(d.RetryAfter)-1, cost), "%+v %d %+v", s, now, d)
				waits++
			}
			if at := now + tallyring.Tick(d.ResetAfter); d.ResetAfter > 0 {
				require.Zero(t, r.Read(next, at).High, "%+v %d %+v", s, now, d)
				require.NotZero(t, r.Read(next, at-1).High, "%+v %d %+v", s, now, d)
				resets++
			}
			require.False(t, passes(0, d.Remaining+1), "%+v %d %+v", s, now, d)
			if d.Remaining > 0 {
				require.True(t, passes(0, d.Remaining), "%+v %d %+v", s, now, d)
				remains++
			}
		}
	}
	require.Greater(t, min(waits, resets, remains), 200, "too few waits were put to the proof")
}
