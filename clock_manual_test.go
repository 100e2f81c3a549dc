package tallyring

import (
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
