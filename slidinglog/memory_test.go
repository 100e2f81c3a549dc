package slidinglog

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

// Goal: a log past MaxRuns stays bounded, errs by at most one cell and toward denying, and says so.
// Method: three windows of distinct random ticks, some late; readings against the model's
// sums over (t-W, t] and over (t-W-cell, t].
func TestCoarsenedLogErrsTowardDenying(t *testing.T) {
	const length = 4 * MaxRuns
	log := mustLog(t, length)
	cell := int(log.cell)
	require.Equal(t, 8, cell)
	random := rand.New(rand.NewPCG(5, 6))
	counts := make([]uint64, 6*length)
	coarsenings, coarse, apart := 0, int64(-1), 0
	for now := 2 * length; now < 5*length; now += 1 + random.IntN(2) {
		at := now
		if random.IntN(128) == 0 {
			at = int(log.newest) - random.IntN(length/8)
		}
		if !log.Add(tallyring.Tick(at), 1) {
			t.Fatal(at, "is in the window")
		}
		counts[at]++
		if len(log.ring) > MaxRuns {
			t.Fatal(len(log.ring), "runs")
		}
		if log.queue.coarse != coarse {
			coarse = log.queue.coarse
			coarsenings++
			require.LessOrEqual(t, log.queue.size, MaxRuns/2+2)
		}
		if random.IntN(8000) == 0 {
			r := log.Read(tallyring.Tick(now))
			want := sumOf(counts[now-length+1 : now+1])
			require.LessOrEqual(t, r.Low, want)
			require.LessOrEqual(t, want, r.High)
			slack := sumOf(counts[now-length-cell+1 : now-length+1])
			require.LessOrEqual(t, r.High, want+slack)
			require.Equal(t, float64(r.High), r.Estimate)
			require.Equal(t, r.High < 170_000, log.Allow(tallyring.Tick(now), 0, 170_000))
			if r.Low < r.High {
				apart++
			}
		}
	}
	require.Greater(t, coarsenings, 10)
	require.Greater(t, apart, 30)
	exact := log.Read(tallyring.Tick(log.queue.coarse + length))
	require.Equal(t, exact.Low, exact.High, "what came after the last coarsening is exact")
}

func sumOf(counts []uint64) (sum uint64) {
	for _, c := range counts {
		sum += c
	}
	return sum
}

// Goal: a coarsened window of any length fits half of MaxRuns.
// Method: the number of cells that a window can overlap, for lengths that divide and do not.
func TestCellsAreLongEnough(t *testing.T) {
	const m = MaxRuns
	longest := int64(tallyring.MaxLength)
	for _, w := range []int64{m + 1, 3*m/2 + 1, 2*m - 1, 2 * m, 7*m + 13, longest} {
		overlapped := (w-2)/cellNanos(w) + 2
		require.LessOrEqual(t, overlapped, int64(m/2+2), "length %d", w)
	}
}

// Goal: a coarsened log keeps saturated counts saturated, its sum right, and refunds in reach.
// Method: coarsen a small queue by hand.
func TestCoarsenKeepsSums(t *testing.T) {
	log := mustLog(t, time.Hour)
	q := &log.queue
	q.insert(11, saturated-1)
	q.insert(12, 5)
	q.insert(25, 3)
	q.insert(28, 4)
	q.insert(31, 6)
	q.coarsen(10)
	require.Equal(t, 3, q.size)
	assert.Equal(t, []int64{12, 28, 31}, []int64{q.at(0).tick, q.at(1).tick, q.at(2).tick})
	assert.Equal(t, uint64(saturated), q.count(0))
	assert.Equal(t, uint64(13), q.sum(1))
	assert.Equal(t, uint64(1), q.carry)
	log.cell = 10
	log.Refund(24, 2)
	assert.Equal(t, uint64(5), q.count(1), "24 would have moved to 28")
	log.Refund(29, 1)
	assert.Equal(t, uint64(6), q.count(2), "29 would not have moved to 31")
	q.drop(12)
	assert.Equal(t, uint64(11), q.sum(0))
	assert.Zero(t, q.carry)
}

// Goal: memory follows the largest limit in use, and is given back.
// Method: fill to 5000 runs, then one event a window.
func TestRingShrinksWhenEmpty(t *testing.T) {
	log := mustLog(t, 10_000)
	for i := range tallyring.Tick(5000) {
		require.True(t, log.Allow(i, 1, 5000))
	}
	require.Equal(t, 8192, len(log.queue.ring))
	for i := range tallyring.Tick(8) {
		require.True(t, log.Allow(20_000*(i+1), 1, 5000))
	}
	require.Equal(t, keptRuns, len(log.queue.ring))
}

// Goal: deciding allocates nothing, admitted or denied.
// Method: AllocsPerRun over logs that have reached their size.
func TestDecisionsDoNotAllocate(t *testing.T) {
	log := mustLog(t, 100)
	keyed, err := NewKeyed(100, 10)
	require.NoError(t, err)
	now := tallyring.Tick(0)
	warm := func() {
		now++
		log.Allow(now, 1, 150)
		keyed.Allow(1, now, 1, 150)
	}
	for range 500 {
		warm()
	}
	for name, decide := range map[string]func(){
		"log, allowed":       func() { now++; log.Allow(now, 1, 150) },
		"log, take":          func() { now++; log.Take(now, 1, 150) },
		"log, denied":        func() { log.Allow(now, 1, 50) },
		"log, take denied":   func() { log.Take(now, 1, 50) },
		"log, add":           func() { now++; log.Add(now-2, 1); log.Refund(now-2, 1) },
		"log, read":          func() { log.Read(now) },
		"keyed, allowed":     func() { now++; keyed.Allow(1, now, 1, 150) },
		"keyed, take":        func() { now++; keyed.Take(1, now, 1, 150) },
		"keyed, denied":      func() { keyed.Allow(1, now, 1, 50) },
		"keyed, new, denied": func() { keyed.Take(2, now, 9, 5) },
		"keyed, new, peek":   func() { keyed.Take(2, now, 0, 5); keyed.Read(2, now) },
	} {
		assert.Zero(t, testing.AllocsPerRun(1000, decide), name)
	}
}

// Goal: Stats tells the memory that there is.
// Method: the sizes that it multiplies, against the compiler's on 64-bit machines.
func TestSizesAreAsStated(t *testing.T) {
	assert.Equal(t, runBytes, int(reflect.TypeFor[run]().Size()))
	if word := reflect.TypeFor[*entry]().Size(); word == wordBytes {
		size := int(reflect.TypeFor[entry]().Size())
		assert.LessOrEqual(t, size, entryBytes)
		assert.Greater(t, size, entryBytes-16, "the next smaller size class would do")
	}
}
