package main

import (
	"context"
	"time"

	"github.com/tallyring/tallyring"
)

// stopwatch is the only thing here that knows the real time: how long the run has lasted, and how
// long one decision took. What is decided never depends on it.
type stopwatch struct {
	began time.Time
	cycle tallyring.Clock
}

func newStopwatch() stopwatch { return stopwatch{time.Now(), tallyring.Cycle()} }

// elapsed returns how long the run has lasted.
func (s stopwatch) elapsed() time.Duration { return time.Since(s.began) }

// nanos returns a reading of a fast clock, for the difference of two.
func (s stopwatch) nanos() int64 { return int64(s.cycle.Now()) }

// until returns a context that ends when a run of the given length is over.
func (s stopwatch) until(parent context.Context, length time.Duration) (
	context.Context, context.CancelFunc,
) {
	return context.WithDeadline(parent, s.began.Add(length))
}
