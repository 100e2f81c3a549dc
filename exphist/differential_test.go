package exphist

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

// scriptShapes are what differential and fuzz tests choose from: lengths that are and are not
// powers of two, the shortest and the longest; one level that is exact, and many; a most that
// scripts pass.
var scriptShapes = []struct {
	length     time.Duration
	eps        float64
	most       uint64
	byEstimate bool
}{
	{time.Minute, 0.1, 1000, false},
	{time.Minute, 0.1, 1000, true},
	{time.Second, 0.5, 300, false},
	{1024, 1, 5000, true},
	{1000, 0.01, 400, false},
	{1000, 0.03, 2000, true},
	{1, 0.5, 100, false},
	{2, 0.2, 64, true},
	{7, 0.01, 20, false},
	{time.Hour, 1e-300, 2, false},
	{time.Hour, 0.25, 1, true},
	{tallyring.MaxLength, 0.1, 777, false},
	{tallyring.MaxLength, 0.07, MaxCount, true},
}

func scriptHistogram(t testing.TB, which int) (*Histogram, float64) {
	t.Helper()
	c := scriptShapes[which%len(scriptShapes)]
	var options []Option
	if c.byEstimate {
		options = append(options, nil, WithEstimate())
	}
	h, err := New(c.length, c.eps, c.most, options...)
	require.NoError(t, err)
	return h, c.eps
}

// Goal: every answer of a histogram is that of the paper's buckets, kept plainly and filled one by
// one, and every reading holds the true count; at any tick, cost and limit, late ones too.
// Method: random scripts over each shape, compared after every step, from ticks near 0 and near the
// last; then look that every kind of step was taken.
func TestHistogramAgreesWithModel(t *testing.T) {
	seen := map[string]int{}
	for which := range scriptShapes {
		for seed := range uint64(rounds(40)) {
			h, eps := scriptHistogram(t, which)
			run := newScript(h, eps)
			random := rand.New(rand.NewPCG(seed, uint64(which)))
			if seed%4 == 3 {
				run.now = math.MaxInt64 - random.Int64N(h.span*3+1)
			}
			var b [stepBytes]byte
			for i := range 300 {
				for j := range b {
					b[j] = byte(random.Uint32())
				}
				diff := run.step(b[:])
				require.Empty(t, diff, "shape %d seed %d step %d", which, seed, i)
			}
			for what, n := range run.seen {
				seen[what] += n
			}
		}
	}
	for _, late := range []bool{false, true} {
		require.Greater(t, seen[fmt.Sprintf("add late %v", late)], 100)
		for _, allowed := range []bool{false, true} {
			require.Greater(t, seen[fmt.Sprintf("allowed %v late %v", allowed, late)], 100)
		}
	}
	for _, what := range []string{"retry", "over", "inexact"} {
		require.Greater(t, seen[what], 100, what)
	}
}

// Goal: no list of operations, however odd, tells a histogram from the model, or puts a reading
// outside of eps.
// Method: the fuzzer writes the script. The corpus in testdata holds a burst at one tick that
// leaves whole, late ticks, a count that does not fit, and ten idle years.
func FuzzHistogramAgreesWithModel(f *testing.F) {
	f.Add(uint8(0), []byte("000000111111222222"))
	f.Fuzz(func(t *testing.T, which uint8, steps []byte) {
		h, eps := scriptHistogram(t, int(which))
		run := newScript(h, eps)
		for i := 0; i+stepBytes <= min(len(steps), 60*stepBytes); i += stepBytes {
			require.Empty(t, run.step(steps[i:i+stepBytes]))
		}
	})
}

// Goal: a weight counted at once leaves what that weight counted one by one leaves.
// Method: two histograms, the same random history, weights up to 2^14 between single events, and
// ticks that leave parts of levels behind; every bucket is compared.
func TestWeightAtOnceIsWeightOneByOne(t *testing.T) {
	for _, eps := range []float64{1, 0.3, 0.1, 0.01} {
		atOnce, one := mustNew(t, 1000, eps, 1<<12), mustNew(t, 1000, eps, 1<<12)
		random := rand.New(rand.NewPCG(8, uint64(1/eps)))
		now, over := tallyring.Tick(0), 0
		for range rounds(400) {
			now += tallyring.Tick(random.Uint64N(300))
			weight := random.Uint64N(1 << random.Uint64N(15))
			atOnce.Add(now, weight)
			for range weight {
				one.Add(now, 1)
			}
			require.Equal(t, one.held(), atOnce.held())
			require.Equal(t, one.over, atOnce.over)
			if atOnce.over > int64(now)-atOnce.span {
				over++
			}
		}
		require.Positive(t, over, "the histogram never overflowed")
	}
}

// held returns the buckets, oldest first.
func (b *buckets) held() (held []modelBucket) {
	for level := b.top; level >= 0; level-- {
		r := b.ring(level)
		for i := range r.count {
			held = append(held, modelBucket{b.end(level, r, i), 1 << level})
		}
	}
	return held
}

// Goal: Events is a histogram whose ticks are the numbers of events, however they are numbered.
// Method: random events, runs of events that weigh nothing, decisions and peeks, against the model
// at the number of the event; windows from 1 to the longest, from the first event, and from where
// events are soon numbered anew.
func TestEventsAgreeWithModel(t *testing.T) {
	seen := map[string]int{}
	for _, n := range []uint64{1, 2, 3, 10, 64, 100, 1000, MaxEvents - 1, MaxEvents} {
		for seed := range uint64(rounds(20)) {
			eps := []float64{0.5, 0.1, 0.02}[seed%3]
			e, err := NewEvents(n, eps, 500)
			require.NoError(t, err)
			run := eventsScript{e, newModel(e.shape), rand.New(rand.NewPCG(seed, n)), 0, seen}
			if seed%4 > 0 {
				run.startAt(math.MaxInt64/2 - int64(10*seed))
			}
			for range 300 {
				was := e.position
				run.step(t)
				if 0 < e.position && e.position < was {
					seen["renumbered"]++
				}
				want := run.model.read(run.number)
				require.Equal(t, want, e.Read(), "window %d seed %d", n, seed)
				require.Empty(t, misses(want, run.model.trueAt(run.number), eps))
				if want.Low < want.High {
					seen["inexact"]++
				}
			}
		}
	}
	for _, what := range []string{"renumbered", "allowed true", "allowed false", "inexact"} {
		require.Greater(t, seen[what], rounds(100), what)
	}
}

// eventsScript drives an Events and its model through the same random operations.
type eventsScript struct {
	events *Events
	model  *model
	random *rand.Rand
	number int64 // of the last event, as the model has it
	seen   map[string]int
}

// startAt makes number the last event's, as if so many had passed.
func (s *eventsScript) startAt(number int64) {
	s.events.position, s.events.newest = number, number
	s.model.newest, s.number = number, number
}

func (s *eventsScript) step(t *testing.T) {
	weight := s.random.Uint64N(1 << s.random.Uint64N(8))
	switch s.random.IntN(4) {
	case 0, 1:
		s.number++
		s.events.Add(weight)
		s.model.count(s.number, weight)
	case 2:
		limit := s.random.Uint64N(400)
		want := s.model.passes(s.number+1, weight, limit)
		require.Equal(t, want, s.events.Allow(weight, limit))
		if want {
			s.model.count(s.number+1, weight)
		}
		if weight > 0 {
			s.number++
		}
		s.seen[fmt.Sprintf("allowed %v", want)]++
	case 3:
		skip := s.random.Int64N((s.model.span+s.model.span/8)>>s.random.IntN(5) + 2)
		s.events.Skip(uint64(skip))
		if s.number += skip; s.number > math.MaxInt64-2*s.model.span {
			// The model keeps the numbers as they are: forget all, and begin again.
			s.events.Skip(math.MaxUint64)
			s.model, s.number = newModel(s.events.shape), 0
		}
	}
}
