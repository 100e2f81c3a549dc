package workload

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/tallyring/tallyring"
)

// Runner times the contenders of workloads.
type Runner struct {
	Rounds int           // timed spans of each contender
	Span   time.Duration // about how long each of them is
	Clock  tallyring.Clock

	// Progress is told what is about to be timed.
	Progress func(workload, contender string)
}

// state is a trial between its rounds.
type state struct {
	Trial
	name   string
	result *Result
	first  int // events done so far by each worker
	events int // events of one worker in a round
}

// Run times all contenders of a workload.
func (r *Runner) Run(w Workload) (Measured, error) {
	done := Measured{Workload: w}
	if w.Measure != nil {
		results, err := w.Measure(r)
		if err != nil {
			return done, fmt.Errorf("%s: %w", w.Bench, err)
		}
		done.Results = results
		return done, nil
	}
	for _, workers := range workersOf(w) {
		var results []Result
		var err error
		if w.Together {
			results, err = r.together(w, workers)
		} else {
			results, err = r.alone(w, workers)
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", w.Bench, err)
		}
		done.Results = append(done.Results, results...)
	}
	return done, nil
}

func workersOf(w Workload) []int {
	if len(w.Workers) == 0 {
		return []int{1}
	}
	return w.Workers
}

// together times all contenders in turn, the floor among them. Each round begins with another one.
func (r *Runner) together(w Workload, workers int) ([]Result, error) {
	states := make([]*state, len(w.Entries))
	for i, entry := range w.Entries {
		s, err := r.prepare(w, entry, workers)
		if err != nil {
			return nil, err
		}
		states[i] = s
	}
	runtime.GC()
	for round := range r.Rounds {
		for i := range states {
			if err := r.time(states[(i+round)%len(states)], workers); err != nil {
				return nil, err
			}
		}
	}
	floor := slices.IndexFunc(w.Entries, func(e Entry) bool { return e.Name == w.Floor })
	results := make([]Result, len(states))
	for i, s := range states {
		results[i] = *s.result
		if floor >= 0 {
			results[i].Ratios = ratios(s.result.Nanos, states[floor].result.Nanos)
			if w.Subtract {
				results[i].Added = added(s.result.Nanos, states[floor].result.Nanos)
			}
		}
		if err := s.close(); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// alone times each contender by turns with the floor, and measures its memory.
func (r *Runner) alone(w Workload, workers int) ([]Result, error) {
	var floor *state
	var results []Result
	for _, entry := range w.Entries {
		if entry.Name == w.Floor {
			s, err := r.prepare(w, entry, workers)
			if err != nil {
				return nil, err
			}
			floor = s
		}
	}
	for _, entry := range w.Entries {
		if entry.Name == w.Floor {
			continue
		}
		before := memoryNow()
		s, err := r.prepare(w, entry, workers)
		if err != nil {
			return nil, err
		}
		if keys := max(w.Keys, s.Keys); keys > 0 {
			s.result.HeapPerKey, s.result.ProcessPerKey = memoryNow().per(before, keys)
		}
		from := 0
		if floor != nil {
			from = len(floor.result.Nanos)
		}
		for range r.Rounds {
			if floor != nil {
				if err := r.time(floor, workers); err != nil {
					return nil, err
				}
			}
			if err := r.time(s, workers); err != nil {
				return nil, err
			}
		}
		if floor != nil {
			s.result.Ratios = ratios(s.result.Nanos, floor.result.Nanos[from:])
		}
		results = append(results, *s.result)
		if err := s.close(); err != nil {
			return nil, err
		}
		debug.FreeOSMemory()
	}
	if floor != nil {
		floor.result.Ratios = ratios(floor.result.Nanos, floor.result.Nanos)
		results = append([]Result{*floor.result}, results...)
	}
	return results, nil
}

// ratios divides round by round.
func ratios(nanos, floor []float64) []float64 {
	quotients := make([]float64, len(nanos))
	for i := range nanos {
		quotients[i] = nanos[i] / floor[i]
	}
	return quotients
}

// added subtracts round by round.
func added(nanos, floor []float64) []float64 {
	differences := make([]float64, len(nanos))
	for i := range nanos {
		differences[i] = nanos[i] - floor[i]
	}
	return differences
}

// prepare makes a contender, counts its allocations, and finds how many events fill a span.
func (r *Runner) prepare(w Workload, entry Entry, workers int) (*state, error) {
	r.tell(w.Bench, entry.Name)
	trial, err := entry.Make()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Name, err)
	}
	result := &Result{Info: entry.Info, Workers: workers}
	s := &state{Trial: trial, name: entry.Name, result: result, events: 64}
	for {
		took, err := r.run(s, workers)
		if err != nil {
			return nil, err
		}
		if took >= r.Span/2 || s.events >= 1<<30 {
			s.events = max(int(float64(s.events)*float64(r.Span)/float64(max(took, 1))), 1)
			break
		}
		s.events *= 2
	}
	var before, after runtime.MemStats
	s.before()
	runtime.ReadMemStats(&before)
	if _, err := r.runPrepared(s, workers); err != nil {
		return nil, err
	}
	runtime.ReadMemStats(&after)
	events := float64(s.events * workers)
	result.AllocsPerEvent = perEvent(after.Mallocs-before.Mallocs, events)
	result.BytesPerEvent = perEvent(after.TotalAlloc-before.TotalAlloc, events)
	return s, nil
}

// perEvent divides, and takes what the runtime allocates for itself in a span for nothing.
func perEvent(total uint64, events float64) float64 {
	if each := float64(total) / events; each >= 0.001 {
		return each
	}
	return 0
}

// time runs one round and keeps its figure.
func (r *Runner) time(s *state, workers int) error {
	took, err := r.run(s, workers)
	if err != nil {
		return err
	}
	events := s.events * workers
	s.result.Nanos = append(s.result.Nanos, float64(took)/float64(events))
	s.result.Events = append(s.result.Events, events)
	return nil
}

// run does one round of events and checks the answers.
func (r *Runner) run(s *state, workers int) (time.Duration, error) {
	s.before()
	return r.runPrepared(s, workers)
}

// before prepares the next events, untimed.
func (s *state) before() {
	if s.Before != nil {
		s.Before(s.first, s.events)
	}
}

// runPrepared is run after before.
func (r *Runner) runPrepared(s *state, workers int) (time.Duration, error) {
	allowed, took := 0, time.Duration(0)
	if workers == 1 {
		began := r.Clock.Now()
		allowed = s.Run(0, s.first, s.events)
		took = time.Duration(r.Clock.Now() - began)
	} else {
		allowed, took = r.runOn(s, workers)
	}
	s.first += s.events
	want := s.events * workers
	if s.Denies {
		want = 0
	}
	if allowed != want {
		return 0, fmt.Errorf("%s allowed %d of %d events, want %d", s.name, allowed,
			s.events*workers, want)
	}
	return took, nil
}

// runOn is run on several goroutines at once, with as many processors.
func (r *Runner) runOn(s *state, workers int) (allowed int, took time.Duration) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	counts := make([]int, workers)
	var start, end sync.WaitGroup
	gate := make(chan struct{})
	for worker := range workers {
		start.Add(1)
		end.Go(func() {
			start.Done()
			<-gate
			counts[worker] = s.Run(worker, s.first, s.events)
		})
	}
	start.Wait()
	began := r.Clock.Now()
	close(gate)
	end.Wait()
	took = time.Duration(r.Clock.Now() - began)
	for _, count := range counts {
		allowed += count
	}
	return allowed, took
}

func (s *state) close() error {
	if s.Close == nil {
		return nil
	}
	return s.Close()
}
