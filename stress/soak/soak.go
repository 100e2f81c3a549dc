package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/tallyring/tallyring"
)

// settings are what a run is told.
type settings struct {
	length     time.Duration
	seed       uint64
	goroutines int
	batches    int // of each load in a storm, by each goroutine
	least      int // rounds, however short the run
	command    string
}

const (
	defaultBatches    = 96
	defaultGoroutines = 8
	defaultLeast      = 24 // every kind of round is among so many

	epochRounds  = 48 // between two sets of structures
	heapRounds   = 16 // between two looks at the heap
	progressTime = 20 * time.Second
)

// soak is one run.
type soak struct {
	settings
	watch   stopwatch
	line    *timeline
	referee referee
	workers []*worker
	builder *builder
	heap    heap
	travels int64 // nanoseconds that time may move on in this epoch

	goroutinesBefore int
	procsBefore      int
	rounds, epochs   int
	interrupted      bool
}

// newSoak readies a run on some structures.
func newSoak(s settings, parts []func(*builder) error) *soak {
	run := &soak{settings: s, watch: newStopwatch(), line: &timeline{},
		goroutinesBefore: runtime.NumGoroutine(), procsBefore: runtime.GOMAXPROCS(0)}
	for id := range s.goroutines {
		run.workers = append(run.workers, &worker{
			id: id, line: run.line, watch: run.watch, referee: &run.referee})
	}
	run.builder = &builder{line: run.line, workers: s.goroutines,
		calls: s.batches * s.goroutines, parts: parts,
		desks: map[string]*desk{}}
	return run
}

// run goes from round to round until its time is over, ctx ends, or something is wrong, and then
// looks at what has happened. Progress is told now and then.
func (s *soak) run(ctx context.Context, progress io.Writer) error {
	timed, cancel := s.watch.until(ctx, s.length)
	defer cancel()
	told := time.Duration(0)
	for ctx.Err() == nil && (timed.Err() == nil || s.rounds < s.least) {
		if err := s.round(); err != nil {
			return fmt.Errorf("%w (seed %d, round %d)", err, s.seed, s.rounds)
		}
		s.rounds++
		if elapsed := s.watch.elapsed(); elapsed-told >= progressTime {
			told = elapsed
			fmt.Fprintf(progress, "soak: %v of %v, round %d, %d decisions, nothing violated\n",
				elapsed.Round(time.Second), s.length, s.rounds, s.sums().decisions)
		}
	}
	if s.interrupted = ctx.Err() != nil; s.interrupted {
		return nil
	}
	if err := s.quickEnough(); err != nil {
		return err
	}
	return missing(s.happened())
}

// round plans one round and lives through it.
func (s *soak) round() error {
	if s.rounds%epochRounds == 0 {
		if err := s.newEpoch(); err != nil {
			return err
		}
	}
	loads := s.builder.loads
	r := newRound(s.seed, s.rounds, s.goroutines, len(loads))
	if jump := int64(r.jump); jump < s.travels {
		s.line.jump(jump)
		s.travels -= jump
	}
	r.start = s.line.Now()
	r.end = r.start + tallyring.Tick(r.travel)
	s.line.end = int64(r.end)
	for _, l := range loads {
		if err := l.begin(r); err != nil {
			return &violation{l.common().structure, err.Error()}
		}
	}
	for _, w := range s.workers {
		w.begin(s.seed, r, s.batches*len(loads), s.goroutines)
	}
	if err := s.storm(r); err != nil {
		return err
	}
	if r.fill {
		if err := s.fill(r); err != nil {
			return err
		}
	}
	for _, l := range loads {
		l.common().rounds++
	}
	return s.rest()
}

// crowd runs all workers and waits for them.
func (s *soak) crowd(work func(w *worker)) {
	var done sync.WaitGroup
	for _, w := range s.workers {
		done.Go(func() { work(w) })
	}
	done.Wait()
}

// storm runs every load in every worker, and then compares.
func (s *soak) storm(r *round) error {
	loads := s.builder.loads
	s.crowd(func(w *worker) {
		for i := range loads {
			w.stretch(i)
			for range s.batches {
				l := loads[r.shuffled[i]]
				if !r.convoy {
					l = loads[w.random.IntN(len(loads))]
				}
				l.storm(w)
				w.pass()
			}
			if s.referee.over() {
				return
			}
		}
	})
	if first := s.referee.first.Load(); first != nil {
		return first
	}
	for _, l := range loads {
		if err := l.settle(r, s.line.Now()); err != nil {
			return &violation{l.common().structure, err.Error()}
		}
	}
	return nil
}

// fill lets all workers fill what has a limit, and then compares.
func (s *soak) fill(r *round) error {
	var filled []load
	for _, i := range r.shuffled {
		if l := s.builder.loads[i]; l.readyFill(s.line.Now()) {
			filled = append(filled, l)
		}
	}
	s.crowd(func(w *worker) {
		for _, l := range filled {
			l.fill(w)
		}
	})
	for _, l := range filled {
		if err := l.settleFill(r, s.line.Now()); err != nil {
			return &violation{l.common().structure, err.Error()}
		}
	}
	return nil
}

// rest looks at the process between two rounds.
func (s *soak) rest() error {
	runtime.GOMAXPROCS(s.procsBefore)
	for tries := 0; runtime.NumGoroutine() > s.goroutinesBefore; tries++ {
		if tries > 1e6 { // they have ended, but for what the scheduler does after their last line
			return &violation{"process", fmt.Sprintf("%d goroutines run at rest, want the %d of "+
				"before", runtime.NumGoroutine(), s.goroutinesBefore)}
		}
		runtime.Gosched()
	}
	if s.rounds%heapRounds != heapRounds-1 {
		return nil
	}
	said, own := 0, 0
	for _, l := range s.builder.loads {
		said, own = said+l.bytes(), own+l.bookBytes()
	}
	if err := s.heap.check(used(), said, own); err != nil {
		return &violation{"memory", err.Error()}
	}
	return nil
}

// newEpoch makes all structures anew, at another origin.
func (s *soak) newEpoch() error {
	s.builder.loads = nil
	if s.epochs == 0 {
		if err := s.builder.build(); err != nil { // for the desks, which stay
			return err
		}
		s.builder.loads = nil
	}
	s.heap.before = used()
	s.line.now.Store(int64(origin(s.seed, s.epochs)))
	s.travels = int64(tallyring.MaxLength) - int64(time.Hour)
	s.epochs++
	return s.builder.build()
}

// origin returns the tick at which an epoch begins: 0 for the first; else some time up to 270 years
// later, or just before the bucket index of some layout wraps, whatever number of bits it has. An
// epoch moves on by ten years at most, which is what every layout tells apart.
func origin(seed uint64, epoch int) tallyring.Tick {
	if epoch == 0 {
		return 0
	}
	const latest = int64(270 * 8766 * time.Hour)
	random := rand.New(rand.NewPCG(seed, ^uint64(epoch)))
	widths := []time.Duration{150 * time.Millisecond, 200 * time.Millisecond,
		250 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond,
		500 * time.Millisecond, 600 * time.Millisecond, 700 * time.Millisecond, time.Second,
		4 * time.Second, time.Minute}
	width := int64(widths[random.IntN(len(widths))])
	bits := 16 + random.IntN(20)
	if wrap := latest >> bits; epoch%2 == 1 && width < wrap {
		return tallyring.Tick(width<<bits - random.Int64N(int64(8*time.Second)))
	}
	return tallyring.Tick(random.Int64N(latest))
}
