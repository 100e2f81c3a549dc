package linear

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestOneKey records calls on one key, which is not there when the goroutines begin in half of the
// histories, so that they insert it at once.
func TestOneKey(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			a := author{rng: seeded(), window: f.window, reads: true, whole: true,
				limits: []uint64{1, 2, 3, 5, 12, 40}}
			var seen tally
			campaign{
				script: a.keyScript,
				on: func(script) subject {
					return onKeys{f.table(t), []uint64{a.rng.Uint64()}}
				},
				judge:  func(r *recorder) { seen.check(t, f.keys(r), r.history(), nil) },
				enough: seen.enough,
			}.run(t)
			t.Log(&seen)
		})
	}
}

// keys returns the checker of a key's history.
func (f form) keys(r *recorder) *checker {
	return &checker{model: model{f.window}, whole: r.whole, turning: true, packed: f.packed}
}

// keyScript is a script that begins without the key, half of the time.
func (a *author) keyScript() script {
	s := a.script()
	if a.rng.IntN(2) == 0 {
		s.first = nil
	}
	return s
}

// TestTakeover records calls on two keys about the tick at which the time of the first has passed,
// so that the second may take its cell over while the first comes back to it, late or not. Each
// key's calls must have an order of their own. It fails unless in a fair share of the histories the
// cell was taken over, and in another was not.
func TestTakeover(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			a := author{rng: seeded(), window: f.window, reads: true, whole: true,
				limits: []uint64{1, 2, 3, 5, 12}}
			keys := neighbours(t, f)
			var seen [2]tally
			takenOver, gaveWay := 0, 0
			campaign{
				script: a.takeoverScript,
				on:     func(script) subject { return onKeys{f.table(t), keys} },
				judge: func(r *recorder) {
					calls := r.history()
					stats := r.subject.(onKeys).Stats(0)
					takenOver += int(stats.TakenOver)
					gaveWay += int(stats.Pending)
					evictions := a.evictions(calls, stats.TakenOver)
					seen[0].check(t, f.keys(r), ofKey(calls, 0), evictions)
					seen[1].check(t, f.keys(r), ofKey(calls, 1), nil)
				},
				enough: func() bool { return seen[0].enough() && seen[1].enough() },
			}.run(t)
			t.Log(&seen[0])
			t.Log(&seen[1])
			t.Logf("%d takeovers, %d claims gave way to another", takenOver, gaveWay)
			require.Greater(t, takenOver, seen[0].histories/10)
			require.Less(t, takenOver, seen[0].histories*9/10)
		})
	}
}

// neighbours returns two keys of which the second takes the cell of the first when its time has
// passed.
func neighbours(t *testing.T, f form) []uint64 {
	later := (base + tallyring.Tick(f.window.Slots)) * tallyring.Tick(second)
	for other := uint64(2); other < 1000; other++ {
		made := f.table(t)
		require.True(t, made.Allow(1, base*tallyring.Tick(second), 1, 1))
		require.True(t, made.Allow(other, later, 1, 1))
		if made.Stats(0).TakenOver == 1 {
			return []uint64{1, other}
		}
	}
	require.Fail(t, "no key takes over the cell of key 1")
	return nil
}

// left is the bucket in which the first key of a takeover counts nothing any more.
func (a *author) left() tallyring.Tick { return base + tallyring.Tick(a.window.Slots) }

// takeoverScript uses up some of the first key's limit, and lets goroutines call both keys about
// the tick at which that has left the window.
func (a *author) takeoverScript() script {
	end := a.left() * a.width()
	ticks := []tallyring.Tick{end - 2, end - 1, end, end + 1}
	s := script{window: a.window, limit: some(a.rng, a.limits...), refundable: end, whole: a.whole}
	s.first = []input{{verb: allowVerb, tick: base * a.width(), limit: s.limit,
		cost: 1 + a.rng.Uint64N(s.limit)}}
	for range 3 + a.rng.IntN(2) {
		steps := make([]step, 4)
		for i := range steps {
			steps[i] = a.step(some(a.rng, ticks...), end, s.limit, a.reads)
			steps[i].key = a.rng.IntN(2)
		}
		s.each = append(s.each, steps)
	}
	for key := range 2 {
		for _, in := range a.rest(end) {
			in.key = key
			s.last = append(s.last, in)
		}
	}
	return s
}

// evictions returns the takeovers of the first key's cell: each happened while one of the other
// key's events was under way that came when the cell could be taken.
func (a *author) evictions(history []porcupine.Operation, count uint64) []porcupine.Operation {
	var all []porcupine.Operation
	for range count {
		var evict porcupine.Operation
		for _, op := range history {
			in := op.Input.(input)
			inserts := in.verb <= takeVerb && 0 < in.cost && in.cost <= in.limit
			if in.key != 1 || !inserts || in.tick < a.left()*a.width() {
				continue
			}
			if evict.Input == nil {
				evict = op
			}
			evict.Call, evict.Return = min(evict.Call, op.Call), max(evict.Return, op.Return)
		}
		evict.Input = input{verb: evictVerb, tick: a.left() * a.width()}
		evict.Output = output{}
		all = append(all, evict)
	}
	return all
}

// ofKey returns the calls of one key.
func ofKey(history []porcupine.Operation, key int) []porcupine.Operation {
	var calls []porcupine.Operation
	for _, op := range history {
		if op.Input.(input).key == key {
			calls = append(calls, op)
		}
	}
	return calls
}
