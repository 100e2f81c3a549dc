package atomicring

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// admission is an entry of the plain log: what was counted, and as of when.
type admission struct {
	at   tallyring.Tick
	cost uint64
}

// worstTrailing returns the most that the log holds in any interval (t-length, t]. It need only
// look at intervals that end with an event. The log is in order of time.
func worstTrailing(log []admission, length time.Duration) (worst uint64) {
	var held uint64
	first := 0
	for _, last := range log {
		held += last.cost
		for log[first].at <= last.at-tallyring.Tick(length) {
			held -= log[first].cost
			first++
		}
		worst = max(worst, held)
	}
	return worst
}

// attack gives the ring events of an adversary for some buckets and returns the log. He tries as
// much as passes at chosen instants of each bucket: its ends, the edges of the window behind his
// earlier events, or anywhere.
func attack(
	rng *rand.Rand, r *Ring, w tallyring.Window, limit uint64, buckets int,
	aim func() tallyring.Tick,
) (log []admission) {
	now := tallyring.Tick(rng.Int64N(int64(w.Width)))
	for range buckets {
		now += aim()
		for _, cost := range []uint64{limit, rng.Uint64N(limit) + 1, rng.Uint64N(4) + 1, 1, 1} {
			if d := r.Take(now, cost, limit); d.Allowed {
				log = append(log, admission{d.At, cost})
			}
		}
		if left := r.Take(now, 0, limit).Remaining; left > 0 && rng.IntN(2) == 0 {
			d := r.Take(now, left, limit)
			log = append(log, admission{d.At, left})
		}
	}
	return log
}

// TestStrictWindowIsNeverExceeded searches, at random and directed at the ends of buckets and
// windows, for a trailing interval of a window's length in which a strict ring admitted more than
// its limit. There is none (rule S13). The search proves itself on the interpolated ring of the
// same shape, which it does drive above the limit.
func TestStrictWindowIsNeverExceeded(t *testing.T) {
	for _, slots := range []int{2, 3, 4, 7, 8, 61} {
		var above int
		for range rounds(400) {
			seed := rand.Uint64()
			rng := rand.New(rand.NewPCG(seed, 0))
			width := time.Duration(18 + rng.Int64N(1<<(1+rng.IntN(40))))
			limit := 1 + rng.Uint64N(min(uint64(1)<<(1+rng.IntN(10)), 254))
			for _, strict := range []bool{true, false} {
				w := tallyring.Window{Slots: slots, Width: width, Strict: strict}
				r, err := New(w)
				require.NoError(t, err)
				rng := rand.New(rand.NewPCG(seed, 1))
				log := attack(rng, r, w, limit, 3*slots, aims(rng, w))
				worst := worstTrailing(log, w.Length())
				if strict {
					require.LessOrEqual(t, worst, limit, "%+v, seed %#x, log %v", w, seed, log)
				} else if worst > limit {
					above++
				}
			}
		}
		require.Positive(t, above, "slots %d: the search is too weak to break any ring", slots)
	}
}

// aims returns the steps of one adversary, who prefers a few kinds of instants.
func aims(rng *rand.Rand, w tallyring.Window) func() tallyring.Tick {
	var now tallyring.Tick
	width := tallyring.Tick(w.Width)
	kinds := []func() tallyring.Tick{
		func() tallyring.Tick { return width - now%width },
		func() tallyring.Tick { return width - now%width - 1 },
		func() tallyring.Tick { return 2*width - now%width - 1 },
		func() tallyring.Tick { return tallyring.Tick(w.Length()) },
		func() tallyring.Tick { return tallyring.Tick(w.Length()) - 1 },
		func() tallyring.Tick { return tallyring.Tick(rng.Int64N(int64(width))) },
		func() tallyring.Tick { return tallyring.Tick(rng.Int64N(2*int64(w.Length()) + 1)) },
		func() tallyring.Tick { return 1 },
	}
	first, second := rng.IntN(len(kinds)), rng.IntN(len(kinds))
	return func() tallyring.Tick {
		kind := [...]int{first, first, second, rng.IntN(len(kinds))}[rng.IntN(4)]
		step := max(kinds[kind](), 0)
		now += step
		return step
	}
}

// TestInterpolatedWindowReachesTwiceTheLimit documents the bound of rings that are not strict: an
// adversary fills one bucket's last instant, and again as soon as that bucket has lost its
// weight. He gets above 1.9 limits into one trailing window for every count of slots, never above
// 2, and a fixed window gives him all of 2.
func TestInterpolatedWindowReachesTwiceTheLimit(t *testing.T) {
	const limit = 1000
	for _, slots := range []int{1, 2, 3, 7, 61} {
		w := tallyring.Window{Slots: slots, Width: time.Second}
		r, err := New(w)
		require.NoError(t, err)
		var log []admission
		take := func(now tallyring.Tick) {
			left := r.Take(now, 0, limit).Remaining
			require.True(t, r.Allow(now, left, limit))
			log = append(log, admission{now, left})
		}
		width, length := tallyring.Tick(w.Width), tallyring.Tick(w.Length())
		take(width - 1)
		if slots == 1 {
			take(width)
		} else {
			// The first burst is the oldest bucket now, and has a thousandth of its weight left.
			take(width - 1 + length - width/1000)
			take(width - 1 + length - 1)
		}
		worst := worstTrailing(log, w.Length())
		require.LessOrEqual(t, worst, uint64(2*limit), "slots %d", slots)
		require.Greater(t, float64(worst), 1.9*limit, "slots %d: %v", slots, log)
		if slots == 1 {
			require.Equal(t, uint64(2*limit), worst)
		}
	}
}

// TestBoundsHoldTheTrueCount counts events at random, late and in order, keeps them all in a
// plain log, and checks at random ticks not before the newest event that the number of them in
// (t-W, t] lies within the reading's bounds (rule S14), which are tight: both are reached. For
// one slot the three are equal.
func TestBoundsHoldTheTrueCount(t *testing.T) {
	var low, high int
	for _, slots := range []int{1, 2, 3, 7, 8, 61} {
		for range rounds(60) {
			rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
			w := tallyring.Window{Slots: slots, Width: time.Duration(20 + rng.Int64N(1<<30)),
				Strict: slots > 1 && rng.IntN(2) == 0}
			a, b := checkBounds(t, rng, w)
			low, high = low+a, high+b
		}
	}
	require.Positive(t, low, "the lower bound was never the true count while the upper was not")
	require.Positive(t, high, "the upper bound was never the true count while the lower was not")
}

// checkBounds returns how often one bound was reached and the other was not.
func checkBounds(t *testing.T, rng *rand.Rand, w tallyring.Window) (lowReached, highReached int) {
	r, err := NewFor(w, 200)
	require.NoError(t, err)
	var log []admission
	latest := tallyring.Tick(rng.Int64N(1 << 50))
	for range 200 {
		if rng.IntN(2) == 0 {
			latest += tallyring.Tick(rng.Int64N(int64(w.Width)))
		}
		at := max(latest-tallyring.Tick(rng.Int64N(int64(w.Width)*2)), 0)
		if rng.IntN(2) == 0 {
			at = latest
		}
		if r.MaxLimit() > 1000 && r.Add(at, 1) {
			log = append(log, admission{at, 1})
		} else if d := r.Take(at, 1, 200); d.Allowed {
			log = append(log, admission{d.At, 1})
		}
		t0 := latest + tallyring.Tick(rng.Int64N(int64(w.Length())+int64(w.Width)))
		got, truth := r.Read(t0), trailing(log, t0, w.Length())
		if w.Slots == 1 {
			require.True(t, got.Low == got.High && got.Estimate == float64(got.High), "%v", got)
			continue
		}
		require.LessOrEqual(t, got.Low, truth, "%+v %v", w, got)
		require.GreaterOrEqual(t, got.High, truth, "%+v %v", w, got)
		require.True(t, float64(got.Low) <= got.Estimate && got.Estimate <= float64(got.High))
		if w.Strict {
			require.Equal(t, float64(got.High), got.Estimate)
		}
		lowReached += reached(got.Low == truth && truth < got.High)
		highReached += reached(got.High == truth && truth > got.Low)
	}
	return lowReached, highReached
}

func reached(is bool) int {
	if is {
		return 1
	}
	return 0
}

// trailing returns what the log holds in (end-length, end].
func trailing(log []admission, end tallyring.Tick, length time.Duration) (count uint64) {
	for _, a := range log {
		if a.at <= end && a.at > end-tallyring.Tick(length) {
			count += a.cost
		}
	}
	return count
}

// TestStrictWindowAtTheLastTicks repeats the attack where ticks end.
func TestStrictWindowAtTheLastTicks(t *testing.T) {
	w := tallyring.Window{Slots: 3, Width: time.Hour, Strict: true}
	r, err := New(w)
	require.NoError(t, err)
	const limit = 10
	var log []admission
	last := tallyring.Tick(math.MaxInt64)
	for now := last - 5*tallyring.Tick(w.Width); now > 0 && now < last; now += 7e9 {
		if d := r.Take(now, 1, limit); d.Allowed {
			log = append(log, admission{d.At, 1})
		}
		if now > last-7e9 {
			break
		}
	}
	require.Equal(t, uint64(limit), worstTrailing(log, w.Length()))
	require.False(t, r.Allow(last, limit+1, limit))
}
