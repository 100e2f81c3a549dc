package tallyring

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ManualClock is a clock that stands still until it is told to move, in any direction. It is for
// tests and for replays. The zero value stands at tick 0.
type ManualClock struct {
	now atomic.Int64

	moving sync.Mutex // held by who moves the clock, while calls are made
	mu     sync.Mutex // guards calls
	calls  []*manualCall
}

// manualCall is a call that is due at a tick.
type manualCall struct {
	due  Tick
	call func()
}

// Now returns the tick last set.
func (c *ManualClock) Now() Tick { return Tick(c.now.Load()) }

// Set moves the clock to now, which may lie in its past. On the way it stops at every tick at which
// a call of AfterFunc is due, and makes the call, which must not move the clock itself.
func (c *ManualClock) Set(now Tick) {
	c.moving.Lock()
	defer c.moving.Unlock()
	c.move(now)
}

// Advance moves the clock by d, which may be negative, as Set does, and returns the new tick.
func (c *ManualClock) Advance(d time.Duration) Tick {
	c.moving.Lock()
	defer c.moving.Unlock()
	now := c.Now() + Tick(d)
	c.move(now)
	return now
}

func (c *ManualClock) move(now Tick) {
	for next := c.due(now); next != nil; next = c.due(now) {
		c.now.Store(max(int64(next.due), c.now.Load()))
		next.call()
	}
	c.now.Store(int64(now))
}

// AfterFunc calls f once the clock has gone on by d. Calls that are due at one tick are made in the
// order in which they were asked for. It makes ManualClock an Alarm.
func (c *ManualClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	call := &manualCall{due: c.Now() + Tick(max(d, 0)), call: f}
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	return func() bool { return c.drop(call) }
}

// due takes the next call that is due by now out of the list, or returns nil.
func (c *ManualClock) due(now Tick) *manualCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := -1
	for i, call := range c.calls {
		if call.due <= now && (first < 0 || call.due < c.calls[first].due) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	call := c.calls[first]
	c.calls = slices.Delete(c.calls, first, first+1)
	return call
}

// drop takes a call out of the list, and reports whether it was there.
func (c *ManualClock) drop(call *manualCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.calls, call)
	if i < 0 {
		return false
	}
	c.calls = slices.Delete(c.calls, i, i+1)
	return true
}
