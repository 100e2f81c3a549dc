package tallyring

import (
	"math"
	"time"
)

const (
	// Never is the RetryAfter of an event that can never pass: its cost is above the limit, or the
	// limit is 0.
	Never time.Duration = math.MaxInt64

	// Unlimited is the limit that admits everything. Events are still counted, so that a later
	// limit finds them.
	Unlimited uint64 = math.MaxUint64

	// Uncounted is the At of an event that passed and has nothing to refund: its key found no cell,
	// it would have been denied but for shadow mode, or a token bucket had no room for its charge.
	// A refund that names it changes nothing.
	Uncounted Tick = -1
)

// Decision is the answer to one event, and what the caller may do next.
type Decision struct {
	// Allowed tells whether the event was admitted and, unless its cost was 0, counted.
	Allowed bool

	// Limit is the limit that decided: the one asked for, or the largest that the layout can hold
	// where that is less.
	Limit uint64

	// Remaining is the largest cost that would be admitted now, after this event.
	// It is Unlimited when Limit is.
	Remaining uint64

	// At is the tick at which the event was counted, which a refund names. It is later than the
	// tick given where that was late: a late event is counted in the newest bucket. It is Uncounted
	// for an event that passed without being counted.
	At Tick

	// RetryAfter is 0 when allowed, Never when the event can never pass, and otherwise exact: with
	// no other events this one is admitted at now+RetryAfter and denied one nanosecond before.
	// Where a table had no cell for the key it is the window's length, as a hint.
	RetryAfter time.Duration

	// ResetAfter is the time until the estimate is 0 if no more events come.
	ResetAfter time.Duration
}

// Reading is what a window holds at one tick, with its error: the true count of counted events in
// the window lies in [Low, High]. For a fixed window all three are the current bucket; for a strict
// window Estimate equals High.
type Reading struct {
	Low      uint64  // without the oldest bucket
	Estimate float64 // the oldest bucket weighted by the part of it still inside the window
	High     uint64  // the oldest bucket whole
}
