package tallyring

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Goal: calls are made at the tick at which they are due, in order, also those that are asked for
// on the way, and a call that was stopped is not made.
func TestManualClockCallsBack(t *testing.T) {
	var clock ManualClock
	var ticks []Tick
	note := func() { ticks = append(ticks, clock.Now()) }
	clock.Set(100)
	clock.AfterFunc(30, note)
	clock.AfterFunc(10, func() {
		note()
		clock.AfterFunc(5, note)
		clock.AfterFunc(1000, note)
	})
	stop := clock.AfterFunc(20, note)
	clock.AfterFunc(-7, note)
	require.True(t, stop())
	require.False(t, stop())
	require.Empty(t, ticks)
	clock.Set(109)
	require.Equal(t, []Tick{100}, ticks, "what was due at once, when the clock is moved")
	clock.Set(50)
	require.Equal(t, Tick(200), clock.Advance(150))
	require.Equal(t, []Tick{100, 110, 115, 130}, ticks)
	clock.Advance(time.Hour)
	require.Equal(t, []Tick{100, 110, 115, 130, 1110}, ticks)
	require.Empty(t, clock.calls)
}

// Goal: a call that is asked for while another goroutine moves the clock is made at its tick, also
// where the clock would come by that tick just then. Method: one asks for calls and notes the ticks
// before and after; the other moves the clock a long step for each, until enough were asked for on
// the way.
func TestNoCallStaysBehindWhileTheClockMoves(t *testing.T) {
	const delay, step = 10, 1000
	var clock ManualClock
	var asked, made atomic.Int64 // asked is -1 in the end
	note := func() { made.Store(int64(clock.Now())) }
	var mover sync.WaitGroup
	mover.Go(func() {
		for seen := int64(0); seen >= 0; seen = asked.Load() {
			clock.Advance(step)
			for tries := 0; asked.Load() == seen && tries < 1000; tries++ {
				runtime.Gosched()
			}
		}
	})
	moved := 0
	for n := int64(1); moved < 100 && n < 5_000_000; n++ {
		made.Store(0)
		before := clock.Now()
		asked.Store(n)
		if n%2 == 0 {
			clock.AfterFunc(delay, note)
		} else {
			stop := clock.CallAt(before+delay, note)
			if clock.Now() >= before+delay && stop() {
				moved++
				continue // it was due when it was asked for
			}
		}
		after := clock.Now()
		for made.Load() == 0 {
			runtime.Gosched()
		}
		if before != after {
			moved++
		}
		require.LessOrEqual(t, Tick(made.Load()), after+delay)
	}
	asked.Store(-1)
	mover.Wait()
	require.Positive(t, moved)
}

// Goal: what is due beyond the last tick is due at it, not in the past, and no step leaves the
// range of ticks. Method: the largest delays and steps, from a late tick and an early one.
func TestManualClockEndsWithTheLastTick(t *testing.T) {
	var clock ManualClock
	clock.Set(math.MaxInt64 - 10)
	called := false
	clock.AfterFunc(Never, func() { called = true })
	clock.Advance(9)
	require.False(t, called)
	require.Equal(t, Tick(math.MaxInt64), clock.Advance(Never))
	require.True(t, called)
	clock.Set(-10)
	require.Equal(t, Tick(math.MinInt64), clock.Advance(math.MinInt64))
	require.Equal(t, Tick(math.MinInt64+5), clock.Advance(5))
}
