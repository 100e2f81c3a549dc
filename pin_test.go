package tallyring

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Goal: ids stay in [0, GOMAXPROCS), also when pins nest and GOMAXPROCS changes meanwhile.
// Method: more goroutines than processors; the largest GOMAXPROCS ever set bounds the ids.
func TestPinIdsStayBelowGOMAXPROCS(t *testing.T) {
	const most = 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(most))
	var seen [most]atomic.Int64
	var outside, moved atomic.Int64
	var pinners sync.WaitGroup
	for range 2 * most {
		pinners.Go(func() {
			for range 5_000 {
				outer := Pin()
				inner := Pin()
				Unpin()
				again := Pin()
				Unpin()
				Unpin()
				for _, id := range []int{outer, inner, again} {
					if id < 0 || id >= most {
						outside.Add(1)
						continue
					}
					seen[id].Add(1)
				}
				if pinHolds && (inner != outer || again != outer) {
					moved.Add(1)
				}
			}
		})
	}
	for _, procs := range []int{1, 4, most, 2, most} {
		runtime.GOMAXPROCS(procs)
		runtime.Gosched()
	}
	pinners.Wait()
	require.Zero(t, outside.Load(), "ids outside of [0, %d)", most)
	require.Zero(t, moved.Load(), "nested pins that gave another id")

	runtime.GOMAXPROCS(1)
	for range 1_000 {
		id := Pin()
		Unpin()
		require.Zero(t, id, "with one processor")
	}
}

// Goal: between Pin and Unpin nobody else runs under the same id, so that what belongs to an id
// needs no read-modify-write. Method: count by a load and a late store, from more goroutines than
// processors, until the world has been stopped two hundred times; no addition is lost. Without
// linkname ids are drawn, and the sum may fall short.
func TestPinExcludesOthersOfTheSameId(t *testing.T) {
	const procs, goroutines, hold, stops = 4, 16, 30_000, 200
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	var counts [procs]struct {
		count atomic.Int64
		_     [PadBytes - 8]byte // keeps the next id's writer away
	}
	var added atomic.Int64
	var done atomic.Bool
	var adders sync.WaitGroup
	for range goroutines {
		adders.Go(func() {
			for !done.Load() {
				own := &counts[Pin()].count
				count := own.Load()
				for range hold { // for longer than it takes to preempt
					_ = own.Load()
				}
				own.Store(count + 1)
				Unpin()
				added.Add(1)
				runtime.Gosched() // so that the stops have their turn
			}
		})
	}
	for range stops {
		runtime.ReadMemStats(new(runtime.MemStats)) // stops the world
		runtime.Gosched()
	}
	done.Store(true)
	adders.Wait()

	sum, ids := int64(0), 0
	for i := range counts {
		if count := counts[i].count.Load(); count > 0 {
			sum, ids = sum+count, ids+1
		}
	}
	assert.Greater(t, ids, 1, "one processor did everything: nothing was spread")
	if pinHolds {
		require.Equal(t, added.Load(), sum)
	} else {
		require.LessOrEqual(t, sum, added.Load())
	}
}
