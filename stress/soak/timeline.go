package main

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// timeline is the time of a run. It stands still unless a goroutine of a storm moves it, and never
// goes back. It is a tallyring.Clock.
//
// No tick that is given to a structure is later than the timeline was before the call. So when a
// call has ended, whatever it counted lies no later than the timeline is then.
type timeline struct {
	now atomic.Int64
	end int64 // no storm moves time beyond this; written at rest
}

// Now returns the current tick.
func (t *timeline) Now() tallyring.Tick { return tallyring.Tick(t.now.Load()) }

// advance moves time on by a step, as far as the end. A failed swap means that another goroutine
// has moved it, and then this step is as good as taken.
func (t *timeline) advance(stepNanos int64) {
	if now := t.now.Load(); now < t.end {
		t.now.CompareAndSwap(now, min(now+stepNanos, t.end))
	}
}

// jump moves time on while nobody uses it.
func (t *timeline) jump(nanos int64) { t.now.Add(nanos) }
