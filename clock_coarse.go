package tallyring

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// CoarseClock is a clock that one goroutine sets from the monotonic clock, at a stated resolution;
// reading it is one load. Its ticks are those of Monotonic, late by up to the resolution and by
// whatever delays that goroutine. It never goes back. It is the only part of the engine that needs
// closing.
type CoarseClock struct {
	_    [PadBytes]byte // keeps away what others write
	now  atomic.Int64   // written by the updating goroutine alone
	_    [PadBytes - 8]byte
	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
}

// NewCoarseClock starts a clock of the given resolution, from 100 microseconds to a second.
func NewCoarseClock(resolution time.Duration) (*CoarseClock, error) {
	if resolution < 100*time.Microsecond || resolution > time.Second {
		return nil, fmt.Errorf("tallyring: resolution of coarse clock is %v, want 100µs to 1s",
			resolution)
	}
	c := &CoarseClock{stop: make(chan struct{})}
	c.now.Store(int64(monotonic{}.Now()))
	c.done.Go(func() { c.update(resolution) })
	return c, nil
}

// update sets the clock until it is closed.
func (c *CoarseClock) update(resolution time.Duration) {
	ticker := time.NewTicker(resolution)
	defer ticker.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-ticker.C:
			c.now.Store(int64(monotonic{}.Now()))
		}
	}
}

// Now returns the tick last set.
func (c *CoarseClock) Now() Tick { return Tick(c.now.Load()) }

// Close ends the updates; the clock stands still from then on. A second call does nothing.
func (c *CoarseClock) Close() {
	c.once.Do(func() { close(c.stop) })
	c.done.Wait()
}
