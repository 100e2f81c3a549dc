package pertcore

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestDifferential drives limiters of 1 to 8 shards and the plain model beside them through long
// random histories of every verb, and compares every answer. Each call goes to a shard drawn at
// random, as if the goroutine had moved to another P, so that shares, folds and openings happen in
// one goroutine. It fails unless all modes were seen.
func TestDifferential(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 7, 61} {
		for _, strict := range []bool{false, true} {
			if strict && slots == 1 {
				continue
			}
			t.Run(fmt.Sprintf("slots=%d/strict=%v", slots, strict), func(t *testing.T) {
				var seen outcomes
				mixed := slots > 1 && !strict // where the weighted mode is met, if rarely
				histories := 300
				if testing.Short() {
					histories = 75
				}
				for i := 0; i < histories || mixed && seen.weighted <= 10 && i < 300; i++ {
					width := []time.Duration{1000, 1 << 14, time.Second, time.Hour}[i%4]
					w := tallyring.Window{Slots: slots, Width: width, Strict: strict}
					origin := []tallyring.Tick{0, 1767225600e9, 788918400e9}[i%3]
					drive(t, w, origin, 1<<(i%4), rand.Uint64(), &seen)
				}
				require.Greater(t, seen.whole, 1000)
				require.Greater(t, seen.exact, 1000)
				require.Greater(t, seen.folds, 1000)
				require.Greater(t, min(seen.admitted, seen.denied), 1000)
				if mixed {
					require.Greater(t, seen.weighted, 10)
				}
			})
		}
	}
}

// outcomes counts what the histories went through.
type outcomes struct {
	whole, weighted, exact, folds, admitted, denied int
}

func (o *outcomes) note(l *Limiter) {
	switch c := l.look(); {
	case c.exact():
		o.exact++
	case c.head&weightedMark != 0:
		o.weighted++
	default:
		o.whole++
	}
}

func someLimit(rng *rand.Rand, l *Limiter) uint64 {
	switch rng.IntN(12) {
	case 0:
		return rng.Uint64N(3)
	case 1:
		return l.MaxLimit() - rng.Uint64N(3)
	case 2:
		return tallyring.Unlimited
	}
	return min(1+rng.Uint64N(1<<(1+rng.IntN(13))), l.MaxLimit())
}

// drive runs one random history.
func drive(
	t *testing.T, w tallyring.Window, origin tallyring.Tick, shards int, seed uint64, o *outcomes,
) {
	left := 400
	more := func() bool { left--; return left >= 0 }
	history(t, w, origin, shards, rand.New(rand.NewPCG(seed, 0)), more, o,
		fmt.Sprintf("seed %#x", seed))
}

// history runs the steps that a generator draws, as long as there are more.
func history(
	t *testing.T, w tallyring.Window, origin tallyring.Tick, shards int, rng *rand.Rand,
	more func() bool, o *outcomes, name string,
) {
	l, err := newLimiter(w, 0, shards)
	require.NoError(t, err)
	m := &model{window: w, most: l.ring.CountMask(), counts: map[int64]uint64{}}
	m.limit = someLimit(rng, l)
	require.NoError(t, l.SetLimit(m.limit))
	now, latest := origin, origin
	for step := 0; more(); step++ {
		width := int64(w.Width)
		switch rng.IntN(40) {
		case 0:
			latest += tallyring.Tick(rng.Int64N(width * int64(w.Slots+2)))
		case 1:
			m.limit = someLimit(rng, l)
			require.NoError(t, l.SetLimit(m.limit))
		case 2, 3, 4:
			latest += tallyring.Tick(rng.Int64N(width/2 + 1))
		default:
			latest += tallyring.Tick(rng.Int64N(width/50 + 2))
		}
		now = latest
		switch rng.IntN(10) {
		case 0:
			now -= tallyring.Tick(rng.Int64N(width * int64(w.Slots+1)))
		case 1:
			now -= tallyring.Tick(rng.Int64N(width))
		}
		cost := rng.Uint64N(4)
		switch rng.IntN(30) {
		case 0:
			cost = rng.Uint64N(min(m.limit, m.most) + 2)
		case 1:
			cost = max(m.limit+1, m.limit)
		}
		said := fmt.Sprintf("%+v from %d, %d shards, %s, step %d: now %d cost %d limit %d",
			w, origin, shards, name, step, now, cost, m.limit)
		began := l.look().generation()
		compare(t, l, m, rng, now, cost, o, said)
		o.folds += int(l.look().generation() - began)
		o.note(l)
		low, high := m.read(now)
		r := l.Read(now)
		require.Equal(t, []uint64{low, high}, []uint64{r.Low, r.High}, said)
	}
}

// compare does one operation on both and compares the answers.
func compare(
	t *testing.T, l *Limiter, m *model, rng *rand.Rand, now tallyring.Tick, cost uint64,
	o *outcomes, said string,
) {
	shard := &l.shards[rng.IntN(len(l.shards))].word
	switch rng.IntN(12) {
	case 0:
		l.Refund(now, cost)
		m.refund(now, cost)
	case 1, 2:
		// Take's own shard does not matter to what it says.
		d := l.Take(now, cost)
		retry := time.Duration(0)
		allowed := m.allow(now, cost)
		if !allowed {
			retry = m.retryAfter(now, cost)
		}
		require.Equal(t, allowed, d.Allowed, said)
		require.Equal(t, m.at(max(now, 0)), d.At, said)
		require.Equal(t, m.remaining(now), d.Remaining, said)
		require.Equal(t, m.limit, d.Limit, said)
		require.Equal(t, retry, d.RetryAfter, said)
	case 3, 4, 5:
		require.Equal(t, m.allow(now, cost), l.Allow(now, cost), said)
	default:
		allowed := m.allow(now, cost)
		before := state(l)
		require.Equal(t, allowed, l.decide(shard, now, cost).allowed, said)
		if !allowed {
			o.denied++
			if cost > m.limit {
				require.Equal(t, before, state(l), "a hopeless event wrote: %s", said)
			}
		} else {
			o.admitted++
			if cost == 0 {
				require.Equal(t, before, state(l), "a peek wrote: %s", said)
			}
		}
	}
}

// state returns every word that a limiter may write.
func state(l *Limiter) []uint64 {
	words := []uint64{l.pair.Key.Load()}
	for i := range l.words {
		words = append(words, l.words[i].Load())
	}
	for i := range l.shards {
		words = append(words, l.shards[i].word.Load())
	}
	return words
}
