package tallyring

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Goal: a call that begins after another has ended, on whatever goroutine, never returns an earlier
// tick. Method: each goroutine reads the latest tick that any has returned, then the clock.
func TestClocksNeverGoBack(t *testing.T) {
	for name, clock := range map[string]Clock{"monotonic": Monotonic(), "cycle": Cycle()} {
		t.Run(name, func(t *testing.T) {
			var latest, back, forward atomic.Int64
			var callers sync.WaitGroup
			for range 8 {
				callers.Go(func() {
					for range 50_000 {
						before := latest.Load()
						now := int64(clock.Now())
						if now < before {
							back.Add(1)
						}
						for now > before && !latest.CompareAndSwap(before, now) {
							before = latest.Load() // ends: it only grows, and now stands still
						}
						forward.Add(max(0, min(1, now-before)))
					}
				})
			}
			callers.Wait()
			require.Zero(t, back.Load(), "calls that returned an earlier tick")
			assert.Greater(t, forward.Load(), int64(1), "the clock stood still")
		})
	}
}

// Goal: all clocks of the process share one origin, about a second before it began, so that no tick
// is 0 and a year of ticks fits many times.
func TestMonotonicHasOneOrigin(t *testing.T) {
	first := Monotonic().Now()
	second := Monotonic().Now()
	third := Monotonic().Now()
	require.GreaterOrEqual(t, first, Tick(time.Second))
	require.Less(t, first, Tick(24*time.Hour), "a test process that runs for a day")
	require.LessOrEqual(t, first, second)
	require.LessOrEqual(t, second, third)
}

// Goal: the manual clock stands where it was put, in any direction.
func TestManualClockStandsStill(t *testing.T) {
	var clock ManualClock
	require.Equal(t, Tick(0), clock.Now())
	clock.Set(100)
	require.Equal(t, Tick(100), clock.Now())
	require.Equal(t, Tick(100), clock.Now())
	require.Equal(t, Tick(130), clock.Advance(30))
	require.Equal(t, Tick(-20), clock.Advance(-150))
	require.Equal(t, Tick(-20), clock.Now())
	clock.Set(5)
	require.Equal(t, Tick(5), clock.Now())

	var _ Clock = &clock
}

// Goal: advances from many goroutines add up, and each returns a tick of its own.
func TestManualClockAdvancesAddUp(t *testing.T) {
	const goroutines, advances = 8, 10_000
	var clock ManualClock
	returned := make([]atomic.Int32, goroutines*advances*3+1)
	var movers sync.WaitGroup
	for range goroutines {
		movers.Go(func() {
			for range advances {
				returned[clock.Advance(3)].Add(1)
			}
		})
	}
	movers.Wait()
	require.Equal(t, Tick(goroutines*advances*3), clock.Now())
	for tick := 3; tick < len(returned); tick += 3 {
		require.Equal(t, int32(1), returned[tick].Load(), "times that tick %d was returned", tick)
	}
}
