package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// violation is what a structure did against its contract.
type violation struct {
	structure string
	what      string
}

func (v *violation) Error() string { return v.structure + ": " + v.what }

// referee keeps the first violation that any goroutine has seen.
type referee struct {
	first atomic.Pointer[violation]
}

// fault reports a violation; those after the first are dropped, since they may follow from it.
func (r *referee) fault(structure, format string, values ...any) {
	r.first.CompareAndSwap(nil, &violation{structure, fmt.Sprintf(format, values...)})
}

// over tells whether there is one, so that the storm may end.
func (r *referee) over() bool { return r.first.Load() != nil }

// convoyMoves is of how many structures of a convoy one sees time move.
const convoyMoves = 8

// worker is one goroutine of the crowd, round after round.
type worker struct {
	id      int
	line    *timeline
	watch   stopwatch
	referee *referee

	// Of the current round:
	round  *round
	random *rand.Rand
	lag    tallyring.Tick
	step   int64 // nanoseconds that time moves on after one batch, on average
	stands bool  // this worker does not move time for now
	passes int   // batches so far

	flipEvery int    // batches between two changes of GOMAXPROCS; 0 for never
	flips     uint64 // of all rounds
}

// begin readies the worker for a round of so many batches.
func (w *worker) begin(seed uint64, r *round, batches int, workers int) {
	w.round, w.passes = r, 0
	w.random = rand.New(rand.NewPCG(seed^0x9e3779b97f4a7c15, uint64(r.number)<<16|uint64(w.id)))
	w.lag = tallyring.Tick(r.lags[w.id])
	w.step = int64(r.travel)*2/int64(batches*workers) + 1
	if r.convoy {
		w.step *= convoyMoves
	}
	w.flipEvery = 0
	if r.flips && w.id == 0 {
		w.flipEvery = batches/8 + 1
	}
}

// now returns the tick at which this goroutine decides. It may be negative, and counts as 0 then.
func (w *worker) now() tallyring.Tick { return w.line.Now() - w.lag }

// inBucket returns this goroutine's tick, not so late that it is of an older bucket.
func (w *worker) inBucket(s shape) tallyring.Tick {
	return max(w.now(), s.start(w.line.Now()))
}

// limit draws the limit of a batch.
func (w *worker) limit(usual uint64) uint64 {
	if !w.round.limits {
		return usual
	}
	return [...]uint64{usual, usual / 2, usual + usual/2}[w.random.IntN(3)]
}

// most returns the largest limit that a batch of a round may draw.
func (r *round) most(usual uint64) uint64 {
	if !r.limits {
		return usual
	}
	return usual + usual/2
}

// stretch begins the part of a convoy on one structure. Time moves only in one of eight, and there
// fast, so that the structures in turn see many buckets go by.
func (w *worker) stretch(i int) {
	w.stands = w.round.travel == 0 || w.round.convoy && (i+w.round.number/2)%convoyMoves != 0
}

// procs are the values of GOMAXPROCS: one, as many as there are cores or so, and far more, so that
// the kernel stops goroutines anywhere.
var procs = [...]int{1, 2, 4, 16, 3, 1, 8}

// move moves time on, now and then.
func (w *worker) move() {
	if !w.stands && w.random.IntN(8) == 0 {
		w.line.advance(1 + w.random.Int64N(8*w.step))
	}
}

// pass follows a batch: time moves on, others get their turn, GOMAXPROCS changes.
func (w *worker) pass() {
	w.passes++
	w.move()
	if w.flipEvery > 0 && w.passes%w.flipEvery == 0 {
		runtime.GOMAXPROCS(procs[w.random.IntN(len(procs))])
		w.flips++
	}
	if w.random.IntN(8) == 0 {
		runtime.Gosched()
	}
}

// violations returns 1 for the structure whose violation ended a run.
func violations(structure string, wrong error) int {
	var v *violation
	if errors.As(wrong, &v) && v.structure == structure {
		return 1
	}
	return 0
}
