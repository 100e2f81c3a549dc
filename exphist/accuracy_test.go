package exphist

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/slidinglog"
)

// traffic is one kind of stream for the accuracy test: what weighs how much, and how long after the
// one before it.
type traffic struct {
	name string
	adds int
	span int64
	most uint64
	next func(r *rand.Rand) (gap int64, weight uint64)
}

// gaps are bursts at one tick, steady traffic, pauses, and now and then more than a whole window.
func gaps(r *rand.Rand) int64 {
	switch k := r.IntN(1000); {
	case k < 300:
		return 0
	case k < 990:
		return r.Int64N(400_000)
	case k < 999:
		return r.Int64N(20_000_000)
	}
	return r.Int64N(2_000_000_000)
}

// sizes are weights that are mostly small, and now and then up to 2^bits.
func sizes(r *rand.Rand, bits int) uint64 {
	if r.IntN(50) > 0 {
		bits = 8
	}
	return r.Uint64N(1 << r.IntN(bits+1))
}

var trafficOverTime = []traffic{
	{"time, each 1", 1_000_000, int64(time.Second), 1_000_000, func(r *rand.Rand) (int64, uint64) {
		return gaps(r), 1
	}},
	{"time, 1 to 2^40", 300_000, int64(time.Second), 1 << 50, func(r *rand.Rand) (int64, uint64) {
		return gaps(r), 1 + sizes(r, 40)
	}},
	{"time, late", 300_000, int64(time.Second), 1_000_000, func(r *rand.Rand) (int64, uint64) {
		return gaps(r) - r.Int64N(2)*r.Int64N(200_000), 1 + r.Uint64N(10)
	}},
}

var trafficOverEvents = []traffic{
	{"events, 0 or 1", 1_000_000, 10_000, 10_000, func(r *rand.Rand) (int64, uint64) {
		return 1, r.Uint64N(2)
	}},
	{"events, few marked", 300_000, 60_000, 60_000, func(r *rand.Rand) (int64, uint64) {
		return 1, (1 + r.Uint64N(50)) / 50
	}},
	{"events, 0 to 2^32", 300_000, 10_000, 1 << 46, func(r *rand.Rand) (int64, uint64) {
		return 1, sizes(r, 32)
	}},
}

// trial compares a histogram, of which read tells the reading at a place, with the exact log.
type trial struct {
	buckets  *buckets
	read     func(place int64) tallyring.Reading
	log      *slidinglog.Log
	eps      float64
	worst    float64
	sum      float64
	instants int
	largest  uint64 // true count
	held     int    // most buckets at one time
}

func newTrial(t *testing.T, b *buckets, eps float64, read func(int64) tallyring.Reading) *trial {
	log, err := slidinglog.New(time.Duration(b.span))
	require.NoError(t, err)
	return &trial{buckets: b, read: read, log: log, eps: eps}
}

// check compares the two at one place.
func (r *trial) check(t *testing.T, place int64) {
	want, got := r.log.Read(tallyring.Tick(place)), r.read(place)
	if wrong := misses(got, want.High, r.eps); wrong != "" || want.Low < want.High {
		t.Fatalf("at %d: %s, log %+v", place, wrong, want)
	}
	wrong := relativeError(got, want.High)
	r.worst = max(r.worst, wrong)
	r.sum += wrong
	r.instants++
	r.largest = max(r.largest, want.High)
}

// added looks how many buckets there are.
func (r *trial) added() {
	held := 0
	for level := range r.buckets.levels {
		held += r.buckets.ring(level).count
	}
	r.held = max(r.held, held)
}

// row is one line of the table that the test prints.
func (r *trial) row(name string, bits int) string {
	bound := paperBits(r.eps, r.buckets.most, r.buckets.span)
	return fmt.Sprintf("%-5v %-18s  %.2e  %.6f  %.6f  %7d  %5d  %6d  %6.0f  %.2f", r.eps, name,
		float64(r.largest), r.worst, r.sum/float64(r.instants), r.instants,
		r.held, bits, bound, float64(bits)/bound)
}

const header = "eps   traffic             most      worst     mean      instants buckets  bits" +
	"   paper   ratio"

var allEps = []float64{0.5, 0.1, 0.01}

// Goal: over a million random events a reading is never outside of eps of the exact log, at any
// instant: those at which something is counted, those at which an event of the log leaves, and
// the nanosecond before each. That covers every instant, since nothing changes between them save
// where a bucket leaves, and it leaves with an event.
// Method: bursts at equal ticks, pauses, windows that run empty, late ticks, and totals far above
// 2^32, through both. The largest error seen, the buckets used and the bits are printed.
func TestNeverOutsideEpsOfTheLogOverTime(t *testing.T) {
	t.Log(header)
	for _, eps := range allEps {
		for _, kind := range trafficOverTime {
			h := mustNew(t, time.Duration(kind.span), eps, kind.most)
			r := newTrial(t, &h.buckets, eps, func(place int64) tallyring.Reading {
				return h.Read(tallyring.Tick(place))
			})
			random := rand.New(rand.NewPCG(1, uint64(1/eps)))
			var leaving []int64
			now := int64(0)
			for range rounds(kind.adds) {
				gap, weight := kind.next(random)
				for now = max(now+gap, 0); len(leaving) > 0 && leaving[0] <= now; {
					r.check(t, leaving[0]-1)
					r.check(t, leaving[0])
					leaving = leaving[1:]
				}
				h.Add(tallyring.Tick(now), weight)
				counted := h.newest
				require.True(t, r.log.Add(tallyring.Tick(counted), weight))
				if n := len(leaving); n == 0 || leaving[n-1] < counted+kind.span {
					leaving = append(leaving, counted+kind.span)
				}
				r.check(t, now)
				r.added()
			}
			require.Greater(t, r.worst, eps/4, "nothing came near the bound")
			t.Log(r.row(kind.name, h.Bits()))
		}
	}
}

// Goal: the same over the last N events, after each of a million and more.
// Method: marks, rare ones too, and values, against the log with the events' numbers as ticks.
func TestNeverOutsideEpsOfTheLogOverEvents(t *testing.T) {
	t.Log(header)
	for _, eps := range allEps {
		for _, kind := range trafficOverEvents {
			e, err := NewEvents(uint64(kind.span), eps, kind.most)
			require.NoError(t, err)
			r := newTrial(t, &e.buckets, eps, func(int64) tallyring.Reading { return e.Read() })
			random := rand.New(rand.NewPCG(2, uint64(1/eps)))
			for number := range int64(rounds(kind.adds)) {
				_, weight := kind.next(random)
				e.Add(weight)
				r.log.Add(tallyring.Tick(number), weight)
				r.check(t, number)
				r.added()
			}
			require.Greater(t, r.worst, eps/4, "nothing came near the bound")
			t.Log(r.row(kind.name, e.Bits()))
		}
	}
}
