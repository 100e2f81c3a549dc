package linear

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/gcra"
)

// The sequential model of a token bucket, written from the package comment of gcra: one that
// refills with an event a second, so that its units are nanoseconds.

// bucket is a state of it. States are compared with ==.
type bucket struct {
	used bool  // it was charged, or a table has made its cell
	span int64 // in which it was last charged, or begins
	due  int64 // the tick at which all is paid for
}

// bucketModel is what does not change, and judges histories. A bucket turns and charges by one
// swap, so there are no steps that others see, but for the cell of a key, which is made before its
// first event is charged.
type bucketModel struct {
	spanNanos int64
	most      uint64 // the most events that are ever owed
	cells     bool   // it is a key's
}

func newBucketModel(rate gcra.Rate, cells bool) *bucketModel {
	return &bucketModel{int64(rate.Span()), rate.MaxBurst(), cells}
}

// debt returns the tick as of which an event at now is decided, later than now if that is of an
// earlier span, and the nanoseconds that are owed then.
func (m *bucketModel) debt(b bucket, now tallyring.Tick) (at, nanos int64) {
	at = max(int64(now), 0)
	if !b.used {
		return at, 0
	}
	if at/m.spanNanos < b.span {
		at = b.span * m.spanNanos
	}
	return at, max(b.due-at, 0)
}

// charged returns a bucket that was charged events at a tick, what it owes then, and whether that
// is all of it: what goes beyond the most that can be owed is forgotten.
func (m *bucketModel) charged(at, debt int64, cost uint64) (b bucket, owed int64, all bool) {
	owed = debt + nanosFor(cost)
	if most := max(debt, nanosFor(m.most)); owed > most {
		return bucket{true, at / m.spanNanos, at + most}, most, false
	}
	return bucket{true, at / m.spanNanos, at + owed}, owed, true
}

// nanosFor returns the time that pays for events.
func nanosFor(events uint64) int64 { return int64(events) * int64(second) }

// take decides, and answers in full.
func (m *bucketModel) take(
	b bucket, now tallyring.Tick, cost, burst uint64,
) (bucket, tallyring.Decision) {
	at, debt := m.debt(b, now)
	lag := at - max(int64(now), 0)
	d := tallyring.Decision{At: tallyring.Tick(at), Limit: burst, Remaining: burst}
	unlimited := burst == tallyring.Unlimited
	d.Allowed = unlimited || burst > 0 && cost <= burst && debt <= nanosFor(burst-cost)
	switch {
	case d.Allowed && cost > 0:
		b, debt, _ = m.charged(at, debt, cost)
	case d.Allowed:
	case burst == 0 || cost > burst:
		d.RetryAfter = tallyring.Never
	default:
		d.RetryAfter = time.Duration(lag + debt - nanosFor(burst-cost))
	}
	if !unlimited {
		d.Remaining = uint64((nanosFor(burst) - min(debt, nanosFor(burst))) / int64(second))
	}
	if debt > 0 {
		d.ResetAfter = time.Duration(lag + debt)
	}
	return b, d
}

// refund takes back what was charged in the word's span or the one before, down to a bucket that is
// full as of that tick, and of the span's begin.
func (m *bucketModel) refund(b bucket, at tallyring.Tick, count uint64) bucket {
	span := max(int64(at), 0) / m.spanNanos
	if !b.used || span > b.span || span < b.span-1 {
		return b
	}
	floor := max(int64(at), b.span*m.spanNanos)
	b.due -= min(nanosFor(count), max(b.due-floor, 0))
	return b
}

// apply makes a call on the model, and tells whether the answer is the model's.
func (m *bucketModel) apply(b bucket, in input, out output) (bucket, bool) {
	switch in.verb {
	case allowVerb:
		next, d := m.take(b, in.tick, in.cost, in.limit)
		return next, d.Allowed == out.ok
	case takeVerb:
		next, d := m.take(b, in.tick, in.cost, in.limit)
		return next, d == out.decision
	case addVerb:
		at, debt := m.debt(b, in.tick)
		next, _, all := m.charged(at, debt, in.cost)
		if in.cost == 0 {
			next = b
		}
		return next, out.ok == all
	case refundVerb:
		return m.refund(b, in.tick, in.cost), true
	}
	_, debt := m.debt(b, in.tick)
	low, rest := uint64(debt/int64(second)), debt%int64(second)
	want := tallyring.Reading{Low: low, High: low, Estimate: float64(debt) / float64(second)}
	if rest > 0 {
		want.High++
	}
	got := out.reading
	return b, got.Low == want.Low && got.High == want.High && near(got.Estimate, want.Estimate)
}

// made returns what a key can be while an event is under way: as it was or, if it was not there, at
// the begin of the event's span with nothing charged.
func (m *bucketModel) made(b bucket, in input) []bucket {
	if b.used {
		return []bucket{b}
	}
	span := max(int64(in.tick), 0) / m.spanNanos
	return []bucket{b, {true, span, span * m.spanNanos}}
}

// porcupine is the model as the checker takes it.
func (m *bucketModel) porcupine() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{bucket{}} },
		Step: func(state, in, out any) []any {
			var states []any
			if in.(input).verb == turnVerb {
				for _, next := range m.made(state.(bucket), in.(input)) {
					states = append(states, next)
				}
			} else if next, ok := m.apply(state.(bucket), in.(input), out.(output)); ok {
				states = append(states, next)
			}
			return states
		},
		DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
		DescribeState:     func(state any) string { return fmt.Sprint(state) },
	}
	return model.ToModel()
}

func (m *bucketModel) judge(history, _ []porcupine.Operation) finding {
	if porcupine.CheckOperations(m.porcupine(), history) {
		return ordered
	}
	if m.cells && porcupine.CheckOperations(m.porcupine(), withCells(history)) {
		return turned
	}
	return broken
}

// withCells adds to a history the cells that its events may have made before they were charged.
func withCells(history []porcupine.Operation) []porcupine.Operation {
	all := append([]porcupine.Operation(nil), history...)
	for _, event := range history {
		in := event.Input.(input)
		if in.verb <= takeVerb && 0 < in.cost && in.cost <= in.limit {
			in.verb, in.event = turnVerb, in.verb
			event.Input, event.Output = in, output{}
			all = append(all, event)
		}
	}
	return all
}

func (m *bucketModel) inCallOrder(history []porcupine.Operation) bool {
	var b bucket
	for _, op := range byCall(history) {
		next, ok := m.apply(b, op.Input.(input), op.Output.(output))
		if !ok {
			return false
		}
		b = next
	}
	return true
}

func (m *bucketModel) explain(folder string, history, _ []porcupine.Operation) string {
	if m.cells {
		return draw(folder, m.porcupine(), history, withCells(history))
	}
	return draw(folder, m.porcupine(), history, history)
}
