package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/tallyring/tallyring"
)

// Outcome is what one scheme did.
type Outcome struct {
	Scheme
	Denied     int
	WrongAllow int // admitted, and the exact log denied
	WrongDeny  int // denied, and the exact log admitted

	// WorstTrailing is the most admitted requests of one key in any interval (t-W, t].
	WorstTrailing int
}

// KeyOutcome is what the exact log did to one key.
type KeyOutcome struct {
	Key      string
	Requests int
	Denied   int
	Peak     int // the most requests in any interval (t-W, t], admitted or not
}

// Result is what a replay found.
type Result struct {
	Outcomes   []Outcome    // in the order of Plan.Schemes
	Keys       []KeyOutcome // those that the limit hits hardest, the most denied first
	KeysDenied int          // how many keys the exact log denied something
}

// engine decides about one request of one key at a time.
type engine interface {
	allow(key uint32, tick tallyring.Tick) bool
}

// Progress is told how far a replay is: done of all decisions. It may be nil.
type Progress func(done, all int)

// progressEvery is how many decisions lie between two calls of Progress.
const progressEvery = 1 << 16

// Run replays the events, which must be sorted and not empty, and keeps the top keys.
func Run(e *Events, plan Plan, top int, progress Progress) (Result, error) {
	return run(e, plan, top, progress, newLimiterEngine, keysPerBatch)
}

// newEngine makes the engine of a scheme for the keys of a batch. Its ticks are on the line; first
// is the first of the log.
type newEngine func(
	b batch, plan Plan, s Scheme, line Timeline, first tallyring.Tick,
) (engine, error)

func run(
	e *Events, plan Plan, top int, progress Progress, make newEngine, most int,
) (Result, error) {
	if err := plan.Validate(); err != nil {
		return Result{}, err
	}
	schemes := plan.Schemes()
	scales, finest, err := plan.scales()
	if err != nil {
		return Result{}, err
	}
	e = CloseGaps(e, plan.Window, finest)
	r := runner{e: e, plan: plan, make: make, index: e.Index(), progress: progress}
	r.batches, r.all = e.batches(r.index, most), len(schemes)*e.Len()
	var result Result
	var exact bitset
	for n, s := range schemes {
		admitted, err := r.decide(s, scales[n])
		if err != nil {
			return Result{}, err
		}
		if s.Name == "log" {
			exact = admitted
		}
		out := e.compare(s, r.index, plan.Window, admitted, exact)
		result.Outcomes = append(result.Outcomes, out)
	}
	result.Keys, result.KeysDenied = e.hardest(r.index, plan.Window, exact, top)
	return result, nil
}

// runner is one run over all schemes.
type runner struct {
	e         *Events
	plan      Plan
	make      newEngine
	index     Index
	batches   []batch
	progress  Progress
	done, all int // decisions
}

// decide gives a scheme every request, one batch of keys after the other, and returns which it
// admitted.
func (r *runner) decide(s Scheme, scale int64) (bitset, error) {
	if err := s.fits(len(r.batches[0].names)); err != nil {
		return nil, err
	}
	line, err := NewTimeline(r.e, r.plan.Window, scale)
	if err != nil {
		return nil, err
	}
	admitted := newBitset(r.e.Len())
	for _, b := range r.batches {
		engine, err := r.make(b, r.plan, s, line, r.e.First())
		if err != nil {
			return nil, err
		}
		for n, i := range b.events {
			if n%progressEvery == 0 && r.progress != nil {
				r.progress(r.done+n, r.all)
			}
			if engine.allow(r.e.list[i].key, line.At(r.e.list[i].tick)) {
				admitted.set(int(i))
			}
		}
		r.done += len(b.events)
	}
	return admitted, nil
}

// compare counts what a scheme did beside what the exact log did.
func (e *Events) compare(
	s Scheme, index Index, window time.Duration, admitted, exact bitset,
) Outcome {
	out := Outcome{Scheme: s}
	for i := range e.list {
		switch {
		case admitted.has(i) && !exact.has(i):
			out.WrongAllow++
		case !admitted.has(i) && exact.has(i):
			out.WrongDeny++
		}
		if !admitted.has(i) {
			out.Denied++
		}
	}
	for key := range e.names {
		out.WorstTrailing = max(out.WorstTrailing, e.peak(index.Of(key), window, admitted.has))
	}
	return out
}

// hardest returns the top keys by what the exact log denied them, then by their peak, then by
// name, and how many keys were denied anything.
func (e *Events) hardest(
	index Index, window time.Duration, exact bitset, top int,
) ([]KeyOutcome, int) {
	every := func(int) bool { return true }
	all := make([]KeyOutcome, len(e.names))
	denied := 0
	for key, name := range e.names {
		of := index.Of(key)
		out := KeyOutcome{Key: e.kind.text(name), Requests: len(of)}
		out.Peak = e.peak(of, window, every)
		for _, i := range of {
			if !exact.has(int(i)) {
				out.Denied++
			}
		}
		if out.Denied > 0 {
			denied++
		}
		all[key] = out
	}
	slices.SortFunc(all, func(a, b KeyOutcome) int {
		return cmp.Or(cmp.Compare(b.Denied, a.Denied), cmp.Compare(b.Peak, a.Peak),
			cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Key, b.Key))
	})
	return slices.Clone(all[:min(top, len(all))]), denied
}
