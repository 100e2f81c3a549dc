package tallyring

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Goal: of two who draw the next line at once the slower one goes by the line that is there, since
// all later readings do. Method: in the middle of a reader's sample another one draws; the first
// one's system clock is 1 µs ahead, which his own line would have as its first tick.
func TestTheSlowerOfTwoDrawersGoesByTheOthersLine(t *testing.T) {
	const ahead = 1000
	var clock cycleClock
	var other Tick
	count, readings := uint64(2e6), 0
	clock.counter = func() uint64 {
		count += 10
		return count
	}
	clock.monotonic = func() Tick {
		readings++
		switch readings {
		case 1:
			other = clock.Now() // takes readings 2 to 4, and draws
			return Tick(count) + ahead
		case 5, 6: // the rest of the first sample
			return Tick(count) + ahead
		}
		return Tick(count)
	}
	clock.line.Store(&timeline{span: 1e6, rate: 1 << rateBits})

	slower := clock.Now()
	require.Greater(t, readings, 6, "the slower one's sample was to be in vain")
	require.GreaterOrEqual(t, slower, other)
	require.Less(t, slower, Tick(2e6+ahead))
	require.GreaterOrEqual(t, clock.Now(), slower)
}
