package atomicring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

var slotCounts = []int{1, 2, 3, 7, 8, 9, 61, 64, 65, 200}

// widthsOf returns widths from the narrowest that a window may have to the widest.
func widthsOf(slots int) []time.Duration {
	return []time.Duration{
		18, 31, 32, 33, 1000, 1024, 1<<20 - 1, 1 << 20, time.Millisecond, time.Second, 1 << 30,
		4816 * time.Second, time.Minute, time.Hour,
		tallyring.MaxLength / time.Duration(max(slots-1, 1)),
	}
}

// origins returns first ticks: the ends of the range, wall time, and where a stored index begins
// again at 0.
func origins(r *Ring, w tallyring.Window) []tallyring.Tick {
	from := []tallyring.Tick{0, 1, 788918400e9, 1767225600e9,
		math.MaxInt64 - 2*tallyring.Tick(w.Length()), math.MaxInt64 - 1}
	far := r.packed.far
	if r.word == nil {
		far = r.tagged.far
	}
	width := uint64(w.Width)
	if turn := uint64(1) << (64 - far); turn < math.MaxInt64/width {
		from = append(from, tallyring.Tick(turn*width), tallyring.Tick((turn-2)*width),
			tallyring.Tick(turn/2*width), tallyring.Tick((turn/2-1)*width))
	}
	return from
}

// TestDifferential drives rings of every form and shape, and the plain model beside them, through
// long random histories, and compares every answer and, after each operation, the whole state as
// it can be seen: readings, remaining counts, and exact waits, now and at later ticks.
func TestDifferential(t *testing.T) {
	for _, f := range forms {
		for _, slots := range slotCounts {
			if !f.tagged && slots > 2 {
				continue
			}
			t.Run(fmt.Sprintf("%s/slots=%d", f.name, slots), func(t *testing.T) {
				t.Parallel()
				for _, width := range widthsOf(slots) {
					w := tallyring.Window{Slots: slots, Width: width}
					differ(t, f, w)
					if w.Strict = true; slots > 1 {
						differ(t, f, w)
					}
				}
			})
		}
	}
}

// differ runs some histories on one window.
func differ(t *testing.T, f form, w tallyring.Window) {
	r := f.build(w)
	if r == nil {
		require.Less(t, w.Width, 3*time.Microsecond, "the form %s refuses %+v", f.name, w)
		return
	}
	from := origins(r, w)
	for i := range rounds(4) {
		seed := rand.Uint64()
		history(t, f, w, from[(i+int(seed%uint64(len(from))))%len(from)], seed, 100)
	}
}

func history(
	t testing.TB, f form, w tallyring.Window, from tallyring.Tick, seed uint64, operations int,
) {
	rng := rand.New(rand.NewPCG(seed, uint64(w.Width)))
	r := f.build(w)
	p := newPair(t, r, w, fmt.Sprintf("%#x from %d in form %s", seed, from, f.name))
	g := generator{rng: rng, wild: rng.IntN(3) == 0,
		limit: min(1+rng.Uint64N(1<<(1+rng.IntN(47))), r.MaxLimit())}
	p.latest, p.last = from, lastTick(from, w)
	for range operations {
		o := g.next(p)
		p.do(o)
		p.compareAround(rng, o.now, o.limit)
	}
}

// TestWaitsAreExact asks rings in random states for waits, then proves each on copies of the ring
// made by replaying its history: the event is denied one nanosecond before and admitted then, the
// estimate is above 0 one nanosecond before and 0 then, and the cost remaining passes, one more
// not.
func TestWaitsAreExact(t *testing.T) {
	var waits, resets, remains int
	for _, f := range forms {
		for _, slots := range []int{1, 2, 3, 7, 9} {
			if !f.tagged && slots > 2 {
				continue
			}
			for _, width := range []time.Duration{5000, 1 << 14, 999_983, time.Second, time.Hour} {
				for _, strict := range []bool{false, slots > 1} {
					w := tallyring.Window{Slots: slots, Width: width, Strict: strict}
					for range rounds(10) {
						a, b, c := proveWaits(t, f, w, rand.Uint64())
						waits, resets, remains = waits+a, resets+b, remains+c
					}
				}
			}
		}
	}
	require.Greater(t, min(waits, resets, remains), 1000, "too few waits were put to the proof")
}

// proveWaits runs a short history without late ticks and proves what Take says after it.
func proveWaits(
	t *testing.T, f form, w tallyring.Window, seed uint64,
) (waits, resets, remains int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	replay := func(history []operation) *Ring {
		r := f.build(w)
		for _, o := range history {
			if o.verb == addVerb {
				r.Add(o.now, o.cost)
			} else {
				r.Take(o.now, o.cost, o.limit)
			}
		}
		return r
	}
	var history []operation
	now, limit := tallyring.Tick(rng.Int64N(1<<50)), 1+rng.Uint64N(200)
	for range 12 {
		now += tallyring.Tick(rng.Int64N(int64(w.Width)))
		if rng.IntN(4) == 0 {
			now = max(now-tallyring.Tick(rng.Int64N(2*int64(w.Width))), 0)
		}
		o := operation{verb(rng.IntN(2)) * takeVerb, now, rng.Uint64N(limit/3 + 2), limit}
		history = append(history, o)
		ring := replay(history)
		cost := rng.Uint64N(limit + 1)
		ask := operation{takeVerb, now, cost, limit}
		d := ring.Take(now, cost, limit)
		asked := append(history[:len(history):len(history)], ask)
		if !d.Allowed {
			at := now + tallyring.Tick(d.RetryAfter)
			require.True(t, replay(asked).Allow(at, cost, limit), "%v %v %v", w, asked, d)
			require.False(t, replay(asked).Allow(at-1, cost, limit), "%v %v %v", w, asked, d)
			waits++
		}
		if d.ResetAfter > 0 {
			at := now + tallyring.Tick(d.ResetAfter)
			require.Zero(t, replay(asked).Estimate(at), "%v %v %v", w, asked, d)
			require.NotZero(t, replay(asked).Estimate(at-1), "%v %v %v", w, asked, d)
			resets++
		}
		require.False(t, replay(asked).Allow(now, d.Remaining+1, limit), "%v %v %v", w, asked, d)
		if d.Remaining > 0 {
			require.True(t, replay(asked).Allow(now, d.Remaining, limit), "%v %v %v", w, asked, d)
			remains++
		}
	}
	return waits, resets, remains
}
