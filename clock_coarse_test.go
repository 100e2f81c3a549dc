package tallyring

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Goal: the coarse clock follows the monotonic one, never goes back, and stands still once closed.
// Method: read both from several goroutines until the coarse one has moved often.
func TestCoarseClockFollows(t *testing.T) {
	c, err := NewCoarseClock(100 * time.Microsecond)
	require.NoError(t, err)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			last, moves := c.Now(), 0
			for moves < 50 {
				now := c.Now()
				if now < last || now > (monotonic{}).Now() {
					t.Errorf("read %d after %d, which must not go back or run ahead", now, last)
					return
				}
				if now > last {
					moves++
				}
				last = now
				runtime.Gosched()
			}
		})
	}
	readers.Wait()
	c.Close()
	c.Close()
	stopped := c.Now()
	for begin := (monotonic{}).Now(); (monotonic{}).Now() < begin+1e6; {
		require.Equal(t, stopped, c.Now())
	}
}

func TestCoarseClockResolution(t *testing.T) {
	for _, resolution := range []time.Duration{-1, 0, 99999, time.Second + 1} {
		_, err := NewCoarseClock(resolution)
		require.ErrorContains(t, err, resolution.String())
		require.ErrorContains(t, err, "want 100µs to 1s")
	}
}

func BenchmarkCoarseClock(b *testing.B) {
	c, err := NewCoarseClock(time.Millisecond)
	require.NoError(b, err)
	defer c.Close()
	var sum Tick
	for b.Loop() {
		sum += c.Now()
	}
	if sum == 0 {
		b.Fatal("the clock stands at 0")
	}
}
