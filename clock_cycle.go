package tallyring

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Cycle returns the clock of the processor's cycle counter: the same ticks as Monotonic, at a
// fraction of its price. Where the processor does not say that its counter runs at one rate on all
// cores, in every power state, or where the build has no assembly, it is Monotonic itself.
//
// The counter is compared with the system's monotonic clock at least ten times per second of use,
// so a tick is off by the rate error of that span alone: some tens of nanoseconds after the first
// milliseconds. It never goes back, also when the comparison finds it ahead.
func Cycle() Clock {
	if !counterInvariant() {
		return Monotonic()
	}
	return processCycle
}

// RelaxedCycle returns the clock of Cycle without the wait that keeps its readings in order, which
// halves its price. A reading may be taken before what precedes it in the program, as far as the
// processor looks ahead: some hundred nanoseconds at most, and never after what follows it. So it
// may be a little early, beside another goroutine's or even the last one of the same; it is never
// ahead. To a limiter such a tick is late, and late ticks gain nothing.
func RelaxedCycle() Clock {
	if !counterInvariant() {
		return Monotonic()
	}
	return relaxedCycle{}
}

// relaxedCycle reads by the lines of processCycle.
type relaxedCycle struct{}

func (relaxedCycle) Now() Tick {
	if line := processCycle.line.Load(); line != nil {
		if tick, ok := line.at(readCounterEarly()); ok {
			return tick
		}
	}
	return processCycle.nowSlow()
}

// processCycle is the clock of this process; one is enough, and learns faster than many.
var processCycle = &cycleClock{counter: readCounter, monotonic: monotonic{}.Now}

// cycleClock turns counter readings into ticks by a line that is valid for a span of the counter.
//
// A reading inside of the span costs nothing but the counter. The first reading past its end draws
// the next line, which starts no earlier than the last tick of the old one. So whoever used the old
// line, however long he slept in between, returns no more than that tick, and whoever uses the new
// one no less: no reading goes back, and nobody waits.
type cycleClock struct {
	line      atomic.Pointer[timeline]
	counter   func() uint64
	monotonic func() Tick
}

const (
	// rateBits is the fraction of a rate.
	rateBits = 32

	// firstSpan and lastSpan bound how long a line is used. Reading the system clock is uncertain
	// by some 50 ns, so over the first span the rate is known to 50 ppm, and later to 0.05 ppm.
	firstSpan = time.Millisecond
	lastSpan  = 100 * time.Millisecond

	// baseline is how long a comparison reaches back: it grows up to twice this.
	baseline = 10 * time.Second
)

// timeline says that counter readings from start on, for span, are the ticks from tick on.
type timeline struct {
	start, span uint64 // of the counter; a span of 0 is valid for nothing
	tick        Tick
	rate        uint64 // nanoseconds per count, times 2^rateBits

	sampleStart uint64 // the pair of readings to which later ones are compared, and its successor
	sampleTick  Tick
	nextStart   uint64
	nextTick    Tick
}

// at returns the tick of a counter reading, if the line covers it.
func (l *timeline) at(count uint64) (Tick, bool) {
	if count-l.start >= l.span {
		return 0, false
	}
	return l.tick + Tick((count-l.start)*l.rate>>rateBits), true
}

// end returns a tick that no reading of the line exceeds.
func (l *timeline) end() Tick {
	return l.tick + Tick(l.span*l.rate>>rateBits)
}

// Now returns the tick of the counter.
func (c *cycleClock) Now() Tick {
	if line := c.line.Load(); line != nil {
		if tick, ok := line.at(c.counter()); ok {
			return tick
		}
	}
	return c.nowSlow()
}

// nowSlow draws the next line and returns its first tick. When another goroutine was faster, its
// line is used.
func (c *cycleClock) nowSlow() Tick {
	for {
		old := c.line.Load()
		count, tick := c.sample()
		if old != nil {
			if tick, ok := old.at(count); ok {
				return tick
			}
		}
		line := old.next(count, tick)
		if c.line.CompareAndSwap(old, line) {
			return line.tick
		}
	}
}

// sample returns a reading of the counter and one of the system clock that belong together: the
// pair of three whose system clock was read in the shortest time.
func (c *cycleClock) sample() (count uint64, tick Tick) {
	shortest := ^uint64(0)
	for range 3 {
		before := c.counter()
		now := c.monotonic()
		took := c.counter() - before
		if took < shortest {
			shortest, count, tick = took, before+took/2, now
		}
	}
	return count, tick
}

// next returns the line that follows l, nil at first, from a pair of readings.
func (l *timeline) next(count uint64, tick Tick) *timeline {
	if l == nil || count <= l.sampleStart || tick <= l.sampleTick {
		// Nothing to compare with, or the counter was reset: begin anew, not before the old line's
		// end. Later pairs are compared with what was read, not with that end.
		first := tick
		if l != nil {
			first = max(tick, l.end())
		}
		return &timeline{start: count, tick: first, sampleStart: count, sampleTick: tick,
			nextStart: count, nextTick: tick}
	}
	counts, elapsed := count-l.sampleStart, tick-l.sampleTick
	next := *l
	next.start, next.tick = count, max(tick, l.end())
	next.span = 0
	if high, low := bits.Mul64(uint64(elapsed), 1<<rateBits); high < counts {
		next.rate, _ = bits.Div64(high, low, counts)
	} else {
		next.rate = 0
	}
	if elapsed < Tick(firstSpan) || next.rate == 0 {
		return &next
	}
	span := min(elapsed, Tick(lastSpan))
	high, low := bits.Mul64(uint64(span), 1<<rateBits)
	next.span, _ = bits.Div64(high, low, next.rate)
	if ahead := next.tick - tick; ahead > 0 {
		// Run slower until the system clock has caught up, at half the rate at most.
		next.rate -= min(next.rate/2, next.rate*uint64(min(ahead, span))/uint64(span))
	}
	if tick-l.nextTick >= Tick(baseline) {
		next.sampleStart, next.sampleTick = l.nextStart, l.nextTick
		next.nextStart, next.nextTick = count, tick
	}
	return &next
}
