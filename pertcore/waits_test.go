package pertcore

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestWaitsAndEstimatesAreExact drives limiters at random, in every mode, late ticks included, and
// proves what Take and Read say: the estimate is above 0 one nanosecond before now+ResetAfter and 0
// then; a twin that went through the same history denies one nanosecond before now+RetryAfter and
// admits then; and the estimate is that of exact fractions, but for the rounding of one float.
func TestWaitsAndEstimatesAreExact(t *testing.T) {
	var seen waits
	for _, slots := range []int{1, 2, 3, 7, 61} {
		for _, strict := range []bool{false, slots > 1} {
			for i := range 24 {
				width := []time.Duration{5000, 1 << 14, 999_983, time.Second}[i%4]
				w := tallyring.Window{Slots: slots, Width: width, Strict: strict}
				seen.prove(t, w, 1<<(i%4), rand.Uint64())
			}
		}
	}
	require.Greater(t, min(seen.retries, seen.resets), 1000, "%+v", seen)
	require.Greater(t, min(seen.shared, seen.exact, seen.late), 300, "%+v", seen)
	require.Greater(t, seen.weighted, 500, "hardly any estimate was a fraction: %+v", seen)
}

// waits counts what was put to the proof.
type waits struct{ retries, resets, weighted, shared, exact, late int }

// step is one event of a history, on one shard.
type step struct {
	shard int
	now   tallyring.Tick
	cost  uint64
}

// prove drives one limiter through a short history and proves what it says after each event.
func (s *waits) prove(t *testing.T, w tallyring.Window, shards int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	limit := 1 + rng.Uint64N(1<<(1+rng.IntN(9)))
	replay := func(history []step) *Limiter {
		l, err := newLimiter(w, min(limit, 250), shards)
		require.NoError(t, err)
		for _, e := range history {
			l.decide(&l.shards[e.shard].word, e.now, e.cost)
		}
		return l
	}
	var history []step
	latest := tallyring.Tick(rng.Int64N(1 << 50))
	for range 24 {
		latest += tallyring.Tick(rng.Int64N(int64(w.Width)))
		now := latest
		if rng.IntN(3) == 0 {
			now = max(now-tallyring.Tick(rng.Int64N(2*int64(w.Width))), 0)
		}
		l := replay(history)
		e := step{rng.IntN(shards), now, rng.Uint64N(l.Limit()/2 + 2)}
		history = append(history, e)
		if l.look().exact() {
			s.exact++
		} else {
			s.shared++
		}
		d := l.Take(now, e.cost)
		s.proveWaits(t, replay, history, d)
		if d.Allowed {
			s.proveEstimates(t, l, w, max(latest, d.At), rng)
		}
	}
}

// proveWaits proves the waits of the last event of a history, of which d is the answer.
func (s *waits) proveWaits(
	t *testing.T, replay func([]step) *Limiter, history []step, d tallyring.Decision,
) {
	last := history[len(history)-1]
	if d.At > last.now {
		s.late++
	}
	if at := last.now + tallyring.Tick(d.ResetAfter); d.ResetAfter > 0 {
		require.Zero(t, replay(history).Estimate(at), "%v %+v", history, d)
		require.NotZero(t, replay(history).Estimate(at-1), "%v %+v", history, d)
		s.resets++
	} else {
		require.Zero(t, replay(history).Estimate(last.now), "%v %+v", history, d)
	}
	if !d.Allowed && d.RetryAfter != tallyring.Never {
		at := last.now + tallyring.Tick(d.RetryAfter)
		require.True(t, replay(history).Allow(at, last.cost), "%v %+v", history, d)
		require.False(t, replay(history).Allow(at-1, last.cost), "%v %+v", history, d)
		s.retries++
	}
}

// proveEstimates reads a limiter at a tick that is not late for it, and at some later ones.
func (s *waits) proveEstimates(
	t *testing.T, l *Limiter, w tallyring.Window, now tallyring.Tick, rng *rand.Rand,
) {
	for range 3 {
		r := l.Read(now)
		require.Equal(t, r.Estimate, l.Estimate(now))
		left := int64(w.Width) - int64(now)%int64(w.Width)
		if w.Strict {
			left = int64(w.Width)
		}
		want := big.NewRat(left, int64(w.Width))
		want.Mul(want, new(big.Rat).SetUint64(r.High-r.Low))
		want.Add(want, new(big.Rat).SetUint64(r.Low))
		if !want.IsInt() {
			s.weighted++
		}
		exact, _ := want.Float64()
		require.InEpsilon(t, 1+exact, 1+r.Estimate, 1e-15, "%+v at %d: %+v", w, now, r)
		now += tallyring.Tick(rng.Int64N(int64(w.Width)))
	}
}
