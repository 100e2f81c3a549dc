package linear

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/tallyring/tallyring"
)

// checker decides whether histories of one kind of subject are within the order.
type checker struct {
	model
	whole bool // Take is compared whole

	turning bool // events may move the ring on before they are counted: see the package comment
	eager   bool // see model.turns
	packed  bool // of a key, whose cell is made before it counts; from then on it turns by one swap
}

// finding is what the checker found out about a history.
type finding uint8

const (
	ordered finding = iota // the model explains it
	turned                 // it does, with turns of events that were not counted yet
	broken                 // nothing does
)

// judge looks for an order. It has no time limit, so that a history whose check would take too long
// does not pass unseen.
func (c *checker) judge(history []porcupine.Operation, evictions []porcupine.Operation) finding {
	if porcupine.CheckOperations(c.sequential(), history) {
		return ordered
	}
	if !c.turning {
		return broken
	}
	if porcupine.CheckOperations(c.stepwise(), c.withTurns(history, evictions)) {
		return turned
	}
	return broken
}

// sequential is the model as porcupine takes it.
func (c *checker) sequential() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return ring{} },
		Step: func(state, in, out any) (bool, any) {
			next, ok := c.apply(state.(ring), in.(input), out.(output))
			return ok, next
		},
		DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
		DescribeState:     func(state any) string { return fmt.Sprint(state) },
	}
}

// stepwise is the model with the steps that only some events take, and others see.
func (c *checker) stepwise() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any { return []any{ring{}} },
		Step: func(state, in, out any) []any {
			var states []any
			for _, r := range c.choices(state.(ring), in.(input), out.(output)) {
				states = append(states, r)
			}
			return states
		},
		DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
		DescribeState:     func(state any) string { return fmt.Sprint(state) },
	}
	return nondeterministic.ToModel()
}

// choices returns the states to which a step can lead.
func (c *checker) choices(r ring, in input, out output) []ring {
	switch in.verb {
	case turnVerb:
		return c.turns(r, in, c.eager, c.packed)
	case evictVerb:
		return c.evicted(r, in.tick)
	}
	if next, ok := c.apply(r, in, out); ok {
		return []ring{next}
	}
	return nil
}

// apply makes a call on the model, and tells whether the answer is the model's.
func (c *checker) apply(r ring, in input, out output) (next ring, ok bool) {
	switch in.verb {
	case allowVerb:
		next, ok = c.allow(r, in.tick, in.cost, in.limit)
		return next, ok == out.ok
	case addVerb:
		next, ok = c.add(r, in.tick, in.cost)
		return next, ok == out.ok
	case takeVerb:
		next, want := c.take(r, in.tick, in.cost, in.limit)
		return next, c.sameDecision(out.decision, want)
	case refundVerb:
		return c.refund(r, in.tick, in.cost), true
	}
	want := c.read(r, in.tick)
	got := out.reading
	return r, got.Low == want.Low && got.High == want.High && near(got.Estimate, want.Estimate)
}

func (c *checker) sameDecision(got, want tallyring.Decision) bool {
	if c.whole {
		return got == want
	}
	return got.Allowed == want.Allowed && got.At == want.At
}

// withTurns adds to a history the turns that its events may have made before they were decided: one
// for each bucket on the way from the earliest that any call is made in, but no more than there are
// calls that such a turn could make late, and one.
func (c *checker) withTurns(history, evictions []porcupine.Operation) []porcupine.Operation {
	all := append(slices.Clone(history), evictions...)
	for _, event := range history {
		in := event.Input.(input)
		if in.verb > addVerb || in.cost == 0 {
			continue
		}
		way, late := int64(0), int64(0)
		for _, other := range history {
			behind := c.bucketOf(in.tick) - c.bucketOf(other.Input.(input).tick)
			if other.Return >= event.Call && behind > 0 {
				way = max(way, behind)
				late++
			}
		}
		turn := in
		turn.verb, turn.event = turnVerb, in.verb
		for range min(way, late+1) {
			all = append(all, porcupine.Operation{
				ClientId: event.ClientId, Input: turn, Call: event.Call,
				Output: output{}, Return: event.Return,
			})
		}
	}
	return all
}

// overlaps tells whether two calls of different goroutines overlap.
func overlaps(history []porcupine.Operation) bool {
	for i, a := range history {
		for _, b := range history[:i] {
			if a.ClientId != b.ClientId && a.Call < b.Return && b.Call < a.Return {
				return true
			}
		}
	}
	return false
}

// inCallOrder tells whether the model gives the same answers when the calls are made one after
// another, in the order in which they were begun. If it does not, calls have overtaken each other.
func (c *checker) inCallOrder(history []porcupine.Operation) bool {
	var r ring
	for _, op := range byCall(history) {
		next, ok := c.apply(r, op.Input.(input), op.Output.(output))
		if !ok {
			return false
		}
		r = next
	}
	return true
}

func byCall(history []porcupine.Operation) []porcupine.Operation {
	return slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int {
		return cmp.Compare(a.Call, b.Call)
	})
}

// explain writes a history that has no order.
func (c *checker) explain(folder string, history, evictions []porcupine.Operation) string {
	calls := append(slices.Clone(history), evictions...)
	text := fmt.Sprintf("window %+v: ", c.window)
	if c.turning {
		return text + draw(folder, c.stepwise(), calls, c.withTurns(history, evictions))
	}
	return text + draw(folder, c.sequential(), calls, history)
}

// draw writes a history that has no order, line by line, and where porcupine's picture of it is, a
// page for a browser.
func draw(folder string, model porcupine.Model, calls, history []porcupine.Operation) string {
	var text strings.Builder
	fmt.Fprintf(&text, "no order explains these calls:\n")
	for _, op := range byCall(calls) {
		fmt.Fprintf(&text, "%4d to %4d  goroutine %d  %s\n", op.Call, op.Return, op.ClientId,
			describe(op.Input.(input), op.Output.(output)))
	}
	result, information := porcupine.CheckOperationsVerbose(model, history, 0)
	picture := filepath.Join(folder, "history.html")
	if err := porcupine.VisualizePath(model, information, picture); err != nil {
		picture = err.Error()
	}
	fmt.Fprintf(&text, "porcupine says %s; its picture: %s\n", result, picture)
	return text.String()
}
