package linear

import (
	"fmt"

	"github.com/tallyring/tallyring"
)

// verb is what a call does, or a step of one that others can see.
type verb uint8

const (
	allowVerb verb = iota
	takeVerb
	addVerb
	refundVerb
	readVerb
	turnVerb  // an event has moved the ring on and is not counted yet
	evictVerb // another key has taken over the cell of this one
)

// input is a call, as its goroutine made it.
type input struct {
	verb        verb
	tick        tallyring.Tick
	cost, limit uint64
	key         int // of a table, 0 or 1

	event verb // of a turn: what is under way
}

func (in input) String() string {
	name := [...]string{"Allow", "Take", "Add", "Refund", "Read", "turn", "evict"}[in.verb]
	if in.verb == turnVerb {
		return fmt.Sprintf("turn of %v", input{in.event, in.tick, in.cost, in.limit, in.key, 0})
	}
	limit := fmt.Sprint(in.limit)
	if in.limit == tallyring.Unlimited {
		limit = "unlimited"
	}
	switch in.verb {
	case allowVerb, takeVerb:
		return fmt.Sprintf("%s(%d, cost %d, limit %s)", name, in.tick, in.cost, limit)
	case readVerb, evictVerb:
		return fmt.Sprintf("%s(%d)", name, in.tick)
	}
	return fmt.Sprintf("%s(%d, %d)", name, in.tick, in.cost)
}

// output is the answer: of it the part that the verb has.
type output struct {
	ok       bool
	decision tallyring.Decision
	reading  tallyring.Reading
}

// describe writes a call with its answer.
func describe(in input, out output) string {
	switch in.verb {
	case allowVerb, addVerb:
		return fmt.Sprintf("%v = %t", in, out.ok)
	case takeVerb:
		d := out.decision
		return fmt.Sprintf("%v = %t at %d, %d remain, retry after %d, reset after %d", in,
			d.Allowed, d.At, d.Remaining, d.RetryAfter, d.ResetAfter)
	case readVerb:
		r := out.reading
		return fmt.Sprintf("%v = %d, %g, %d", in, r.Low, r.Estimate, r.High)
	}
	return in.String()
}
