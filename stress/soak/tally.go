package main

import (
	"math/rand/v2"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// sampleEvery is how many decisions there are for each one that is timed, on average.
	sampleEvery = 1000

	// slowestNanos is the longest time that a histogram tells apart; what takes longer counts as
	// that. Two digits of precision keep a histogram at some 30 KiB.
	slowestNanos    = 10e9
	latencyDigits   = 2
	shortestNanos   = 1
	smallestTallies = 128 // bytes between two tallies, so that no two goroutines write one line
)

// tally counts what one goroutine has done to one structure. It belongs to that goroutine in a
// storm or a fill, and to the run at rest.
type tally struct {
	decisions, admitted uint64 // events asked for, and of these let pass
	refunds, reads      uint64 // calls
	adds, dropped       uint64 // calls, and of these too late
	turns               uint64 // batches during which the bucket changed
	late                uint64 // admitted with a tick that was late
	ghosts              uint64 // events of keys that came back late

	untilSample int
	latency     *hdrhistogram.Histogram
	_           [smallestTallies]byte // keeps the next goroutine's tally away
}

func newTally() *tally {
	return &tally{latency: hdrhistogram.New(shortestNanos, slowestNanos, latencyDigits)}
}

// due tells whether one of the next decisions is to be timed.
func (t *tally) due(random *rand.Rand, decisions int) bool {
	if t.untilSample -= decisions; t.untilSample > 0 {
		return false
	}
	t.untilSample = sampleEvery/2 + random.IntN(sampleEvery)
	return true
}

// took notes the time of one decision.
func (t *tally) took(nanos int64) {
	// What is cut to the range of the histogram is in it.
	_ = t.latency.RecordValue(min(max(nanos, shortestNanos), slowestNanos))
}

// add adds another tally to t.
func (t *tally) add(other *tally) {
	t.decisions += other.decisions
	t.admitted += other.admitted
	t.refunds += other.refunds
	t.reads += other.reads
	t.adds += other.adds
	t.dropped += other.dropped
	t.turns += other.turns
	t.late += other.late
	t.ghosts += other.ghosts
	t.latency.Merge(other.latency)
}
