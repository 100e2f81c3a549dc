package linear

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// answered is a call with its answer; at gives it its stamps.
type answered struct {
	in  input
	out output
}

func (a answered) at(from, to int64) porcupine.Operation {
	return porcupine.Operation{Input: a.in, Output: a.out, Call: from, Return: to}
}

type history = []porcupine.Operation

func allow(tick tallyring.Tick, cost, limit uint64, ok bool) answered {
	return answered{input{verb: allowVerb, tick: tick, cost: cost, limit: limit}, output{ok: ok}}
}

func take(tick tallyring.Tick, cost uint64, d tallyring.Decision) answered {
	in := input{verb: takeVerb, tick: tick, cost: cost, limit: d.Limit}
	return answered{in, output{decision: d}}
}

func add(tick tallyring.Tick, count uint64) answered {
	return answered{input{verb: addVerb, tick: tick, cost: count}, output{ok: true}}
}

func refund(tick tallyring.Tick, count uint64) answered {
	return answered{input{verb: refundVerb, tick: tick, cost: count}, output{}}
}

// read is a reading in the first moment of a bucket, or in the last but for less than a ten
// millionth.
func read(tick tallyring.Tick, low, high, estimate uint64) answered {
	reading := tallyring.Reading{Low: low, Estimate: float64(estimate), High: high}
	return answered{input{verb: readVerb, tick: tick}, output{reading: reading}}
}

var (
	fixed = tallyring.Window{Slots: 1, Width: second}
	two   = tallyring.Window{Slots: 2, Width: second}
)

const (
	end  = (base + 1) * tallyring.Tick(second) // bucket base ends, and the next begins
	last = end - 1                             // the last tick of bucket base
)

// TestCheckerRefuses gives the checker histories that no sound engine can have, each beside one
// that differs in a stamp or an answer, and that it must accept. What it refuses it refuses with
// turns too.
func TestCheckerRefuses(t *testing.T) {
	full := allow(last, 2, 2, true).at(1, 2)
	denied := tallyring.Decision{Limit: 2, At: end, RetryAfter: second / 2, ResetAfter: second}
	early, elsewhen, left := denied, denied, denied
	early.RetryAfter--
	elsewhen.At--
	left.Remaining = 1
	for _, test := range []struct {
		name       string
		window     tallyring.Window
		good, evil history
	}{
		{"one permit too many", fixed,
			history{allow(last, 1, 2, true).at(1, 4), allow(last, 1, 2, true).at(2, 3)},
			history{allow(last, 1, 1, true).at(1, 4), allow(last, 1, 1, true).at(2, 3)}},
		{"a lost count", fixed,
			history{add(last, 1).at(1, 3), add(last, 1).at(2, 4), read(last, 2, 2, 2).at(5, 6)},
			history{add(last, 1).at(1, 3), add(last, 1).at(2, 4), read(last, 1, 1, 1).at(5, 6)}},
		{"a denial while permits lie free", fixed,
			history{allow(last, 1, 1, true).at(1, 4), allow(last, 1, 1, false).at(2, 3)},
			history{allow(last, 1, 1, false).at(2, 3), allow(last, 1, 1, true).at(4, 5)}},
		{"a read that overlooks what came before it", fixed,
			history{add(last, 1).at(1, 4), read(last, 0, 0, 0).at(2, 3)},
			history{add(last, 1).at(1, 2), read(last, 0, 0, 0).at(3, 4)}},
		{"a late event with a budget of its own", fixed,
			history{allow(last, 1, 1, true).at(1, 2), allow(end, 1, 1, true).at(3, 4)},
			history{allow(end, 1, 1, true).at(1, 2), allow(last, 1, 1, true).at(3, 4)}},
		{"a refund that is lost", fixed,
			history{full, refund(last, 1).at(3, 4), read(last, 1, 1, 1).at(5, 6)},
			history{full, refund(last, 1).at(3, 4), read(last, 2, 2, 2).at(5, 6)}},
		{"a refund that mints permits", fixed,
			history{full, refund(last, 3).at(3, 4), allow(last, 2, 2, true).at(5, 6)},
			history{full, refund(last, 3).at(3, 4), allow(last, 3, 2, true).at(5, 6)}},
		{"a turn that forgets", two,
			history{full, add(end, 1).at(3, 4), read(end, 1, 3, 3).at(5, 6)},
			history{full, add(end, 1).at(3, 4), read(end, 1, 1, 1).at(5, 6)}},
		{"a wait that is a nanosecond short", two,
			history{full, take(end, 1, denied).at(3, 4)},
			history{full, take(end, 1, early).at(3, 4)}},
		{"an event counted in another bucket", two,
			history{full, take(end, 1, denied).at(3, 4)},
			history{full, take(end, 1, elsewhen).at(3, 4)}},
		{"permits that are not there", two,
			history{full, take(end, 1, denied).at(3, 4)},
			history{full, take(end, 1, left).at(3, 4)}},
	} {
		for _, turning := range []bool{false, true} {
			c := checker{model: model{test.window}, whole: true, turning: turning, eager: turning}
			require.Equal(t, ordered, c.judge(test.good, nil), test.name)
			require.Equal(t, broken, c.judge(test.evil, nil), test.name)
			text := c.explain(t.TempDir(), test.evil, nil)
			require.Contains(t, text, "porcupine says Illegal", test.name)
			require.Contains(t, text, describe(test.evil[0].Input.(input),
				test.evil[0].Output.(output)), test.name)
		}
	}
}

// TestTurnsExcuseLittle gives the checker histories in which others have seen an event turn the
// ring before it was counted, and ones that look like it and must not pass. A packed ring is not
// excused.
func TestTurnsExcuseLittle(t *testing.T) {
	one := allow(last, 1, 2, true).at(1, 2)
	moved := read(last, 0, 1, 1) // as in the bucket after base, where nothing is counted yet
	still := read(last, 1, 1, 1) // as in base
	counted := take(last, 1, tallyring.Decision{
		Allowed: true, Limit: 2, At: end, ResetAfter: 2*second + 1})
	for _, test := range []struct {
		name string
		want finding
		history
	}{
		{"under way", turned, history{one, add(end, 1).at(3, 6), moved.at(4, 5)}},
		{"admitted", turned, history{one, allow(end, 1, 2, true).at(3, 6), moved.at(4, 5)}},
		{"denied in the end, since a late event was counted where it had turned to", turned,
			history{one, allow(end, 1, 2, false).at(3, 6), counted.at(4, 5)}},
		{"in two steps", turned,
			history{one, add(end+tallyring.Tick(second), 1).at(3, 6), moved.at(4, 5)}},
		{"seen, and not seen later", broken,
			history{one, add(end, 1).at(3, 8), moved.at(4, 5), still.at(6, 7)}},
		{"not begun", broken, history{one, moved.at(3, 4), add(end, 1).at(5, 6)}},
		{"done, and not counted", broken, history{one, add(end, 1).at(3, 4), moved.at(5, 6)}},
		{"of no event", broken, history{one, moved.at(4, 5)}},
		{"of a peek", broken, history{one, allow(end, 0, 2, true).at(3, 6), moved.at(4, 5)}},
		{"of an event that the limit never admits", broken,
			history{one, allow(end, 2, 2, false).at(3, 6), moved.at(4, 5)}},
		{"of a denied event, with a permit too many", broken,
			history{one, allow(end, 1, 2, true).at(3, 6), counted.at(4, 5)}},
	} {
		c := checker{model: model{two}, whole: true, turning: true}
		require.Equal(t, test.want, c.judge(test.history, nil), test.name)
		c.turning = false
		require.Equal(t, broken, c.judge(test.history, nil), test.name)
	}
}

// TestTakeoversExcuseLittle does the same for a key that has lost its cell: it begins anew where
// its last count has left, once, and only if its cell was taken over.
func TestTakeoversExcuseLittle(t *testing.T) {
	const left = end + tallyring.Tick(second) // bucket base leaves a window of two slots
	spent := allow(last, 2, 2, true).at(1, 2)
	again := take(left-1, 2, tallyring.Decision{
		Allowed: true, Limit: 2, At: left, ResetAfter: 2*second + 1})
	evict := answered{in: input{verb: evictVerb, tick: left}}
	for _, test := range []struct {
		name      string
		want      finding
		evictions history
		history
	}{
		{"taken over", turned, history{evict.at(3, 6)}, history{spent, again.at(4, 5)}},
		{"not taken over", broken, nil, history{spent, again.at(4, 5)}},
		{"taken over later", broken, history{evict.at(6, 7)}, history{spent, again.at(4, 5)}},
		{"twice the limit", broken, history{evict.at(3, 8)},
			history{spent, again.at(4, 5), again.at(6, 7)}},
		{"taken over while it counts", broken,
			history{answered{in: input{verb: evictVerb, tick: left - 1}}.at(3, 6)},
			history{spent, again.at(4, 5)}},
	} {
		c := checker{model: model{two}, whole: true, turning: true, packed: true}
		require.Equal(t, test.want, c.judge(test.history, test.evictions), test.name)
	}
}
