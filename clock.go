package tallyring

import (
	"sync/atomic"
	"time"
)

// Clock gives ticks. Now may be called from any number of goroutines, and a call that begins after
// another has ended never returns an earlier tick, except where a clock says otherwise.
type Clock interface {
	Now() Tick
}

// origin is tick 0 of Monotonic. It lies one second back so that no tick of this process is 0.
var origin = time.Now().Add(-time.Second)

// Monotonic returns the clock that reads the system's monotonic clock on each call. Its origin is
// about the start of the process; it is never set back, and its resolution is the system's
// (nanoseconds on Linux, 100 ns or coarser on Windows).
func Monotonic() Clock { return monotonic{} }

type monotonic struct{}

func (monotonic) Now() Tick { return Tick(time.Since(origin)) }

// ManualClock is a clock that stands still until it is told to move, in any direction. It is for
// tests and for replays. The zero value stands at tick 0.
type ManualClock struct {
	now atomic.Int64
}

// Now returns the tick last set.
func (c *ManualClock) Now() Tick { return Tick(c.now.Load()) }

// Set moves the clock to now, which may lie in its past.
func (c *ManualClock) Set(now Tick) { c.now.Store(int64(now)) }

// Advance moves the clock by d, which may be negative, and returns the new tick.
func (c *ManualClock) Advance(d time.Duration) Tick { return Tick(c.now.Add(int64(d))) }
