package tallyring

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// allowedCores returns the cores that this process may use.
func allowedCores(t *testing.T) (cores []int) {
	t.Helper()
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	for core := range len(set) * 64 {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores
}

// onThread runs work on a thread of its own, which ends with it: so whatever cores it was bound to
// concern nobody after.
func onThread(work func()) {
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread()
		work()
	})
	done.Wait()
}

// bind moves the calling thread to a core; it runs there when the call returns.
func bind(core int) error {
	var set unix.CPUSet
	set.Set(core)
	return unix.SchedSetaffinity(0, &set)
}

// Goal: a thread that migrates between cores sees one time: the clocks of the cycle counter agree
// with the system's, and do not go back. Method: a thread moves from core to core, and reads each
// clock before it moves and after, between two readings of the system's clock.
func TestClocksAgreeAcrossMigration(t *testing.T) {
	const tolerance, moves = Tick(100 * time.Microsecond), 1000
	cores := allowedCores(t)
	if len(cores) < 2 {
		t.Skipf("this process may use core %v alone, migration needs two", cores)
	}
	for name, clock := range map[string]Clock{"cycle": Cycle(), "relaxed": RelaxedCycle()} {
		t.Run(name, func(t *testing.T) {
			var refused error
			var early, late, back Tick
			onThread(func() {
				last := clock.Now()
				for i := range moves {
					if refused = bind(cores[i%len(cores)]); refused != nil {
						return
					}
					before := monotonic{}.Now()
					now := clock.Now()
					after := monotonic{}.Now()
					back = max(back, last-now)
					early, late = max(early, before-now), max(late, now-after)
					last = now
				}
			})
			require.NoError(t, refused)
			t.Logf("%d cores; early by %d ns at most, late by %d", len(cores), early, late)
			if name == "cycle" {
				require.Zero(t, back, "it went back by so many ns") // relaxed does not promise it
			}
			assert.Less(t, early, tolerance)
			assert.Less(t, late, tolerance)
		})
	}
}

// Goal: a tick that one core hands to another is never later than what the other then reads, and
// so for all pairs of cores at once. Method: a thread on each core; each reads the latest tick that
// any has published, then the clock.
func TestNoCoreIsAheadOfAnother(t *testing.T) {
	cores := allowedCores(t)
	if len(cores) < 2 {
		t.Skipf("this process may use core %v alone, the test needs two", cores)
	}
	cores = cores[:min(len(cores), 8)]
	clock := Cycle()
	var latest, back, refused atomic.Int64
	handed := make([]atomic.Int64, len(cores)) // ticks of others that each has met
	var from atomic.Int64                      // who published the latest, about
	var threads sync.WaitGroup
	for i, core := range cores {
		threads.Go(func() {
			onThread(func() {
				if bind(core) != nil {
					refused.Add(1)
					return
				}
				for n := range 200_000 {
					other := from.Load() != int64(i)
					before := latest.Load()
					now := int64(clock.Now())
					back.Add(max(0, min(1, before-now)))
					if other {
						handed[i].Add(1)
					}
					if latest.CompareAndSwap(before, max(now, before)) {
						from.Store(int64(i))
					}
					if n%1000 == 0 {
						runtime.Gosched()
					}
				}
			})
		})
	}
	threads.Wait()
	require.Zero(t, refused.Load(), "cores that the system refused")
	require.Zero(t, back.Load(), "readings before a tick that another core had published")
	met := int64(0)
	for i := range handed {
		met += handed[i].Load()
	}
	t.Logf("%d cores, %d readings after another core's", len(cores), met)
	require.Positive(t, met, "no core has met a tick of another")
}
