package tallyring

import (
	"math"
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
	mu     sync.Mutex // guards calls, and is held while now changes
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

// Advance moves the clock by d, which may be negative, as Set does, and returns the new tick. It
// goes no further than the last tick there is, or the first.
func (c *ManualClock) Advance(d time.Duration) Tick {
	c.moving.Lock()
	defer c.moving.Unlock()
	now := c.Now().after(d)
	c.move(now)
	return now
}

func (c *ManualClock) move(now Tick) {
	for next := c.step(now); next != nil; next = c.step(now) {
		next.call()
	}
}

// CallAt calls f once the clock has come to due, on the way of Set or Advance. Calls that are due
// at one tick are made in the order in which they were asked for; one that was due when it was
// asked for is made when the clock is moved next. It makes ManualClock an Alarm.
func (c *ManualClock) CallAt(due Tick, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enter(due, f)
}

// AfterFunc is CallAt for when the clock has gone on by d, or come to the last tick there is.
func (c *ManualClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enter(c.Now().after(max(d, 0)), f)
}

func (c *ManualClock) enter(due Tick, f func()) (stop func() bool) {
	call := &manualCall{due: due, call: f}
	c.calls = append(c.calls, call)
	return func() bool { return c.drop(call) }
}

// step moves the clock to the next tick at which a call is due by now, takes the call out of the
// list and returns it. Where none is, it moves the clock to now and returns nil. Both are one step
// for who asks for a call meanwhile: the call is due on the way, or the clock is at now by then.
func (c *ManualClock) step(now Tick) *manualCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := -1
	for i, call := range c.calls {
		if call.due <= now && (first < 0 || call.due < c.calls[first].due) {
			first = i
		}
	}
	if first < 0 {
		c.now.Store(int64(now))
		return nil
	}
	call := c.calls[first]
	c.calls = slices.Delete(c.calls, first, first+1)
	c.now.Store(max(int64(call.due), c.now.Load()))
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

// after returns the tick that lies d after t, or the last or first tick there is.
func (t Tick) after(d time.Duration) Tick {
	switch {
	case d > 0 && t > math.MaxInt64-Tick(d):
		return math.MaxInt64
	case d < 0 && t < math.MinInt64-Tick(d):
		return math.MinInt64
	}
	return t + Tick(d)
}
