package lab

import (
	"time"

	"github.com/tallyring/tallyring"
)

// trueCounts appends, for each of the ascending ticks, how many of them up to and with itself fall
// into (t-window, t].
func trueCounts(to []int, ticks []tallyring.Tick, window time.Duration) []int {
	tail := 0
	for i, t := range ticks {
		for ticks[tail] <= t-tallyring.Tick(window) {
			tail++
		}
		to = append(to, i-tail+1)
	}
	return to
}

// trueCount returns how many of the ascending ticks fall into (at-window, at].
func trueCount(ticks []tallyring.Tick, at tallyring.Tick, window time.Duration) (count int) {
	for _, t := range ticks {
		if t > at-tallyring.Tick(window) && t <= at {
			count++
		}
	}
	return count
}
