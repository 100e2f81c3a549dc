package workload

import (
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// Workload is what several contenders are timed at.
type Workload struct {
	Bench string // name in benchmark form: "OneKey/workload=allowed"
	Title string // for people
	About string // one or two sentences: what is done, what counts
	Floor string // contender by which the others are divided

	// Together keeps all contenders alive beside each other; otherwise each is alone with the
	// floor, because they would not fit into memory or into the cache beside each other.
	Together bool

	// Keys is how many keys a filled contender holds, where its memory is measured.
	Keys int

	// Workers are the numbers of goroutines, and of processors for them, to be timed with.
	Workers []int

	// Apart tells that the workers of the floor share nothing, so that it shows whether the
	// processors were free.
	Apart bool

	// Subtract tells that each event contains the floor's own work, so that the difference counts
	// and not the ratio.
	Subtract bool

	Entries []Entry

	// Measure stands for the rounds of a Runner where these do not fit.
	Measure func(r *Runner) ([]Result, error)
}

// Entry is one contender of a workload.
type Entry struct {
	contender.Info
	Make func() (Trial, error)
}

// Trial is one contender, filled and ready.
type Trial struct {
	// Before, if any, prepares the events that Run will do next. It is not timed.
	Before func(first, events int)

	// Run does the given number of events, the first of which is the trial's first-th, on behalf
	// of one of several workers, and returns how many were allowed.
	Run func(worker, first, events int) (allowed int)

	// Denies tells that all events are denied; otherwise all are allowed.
	Denies bool

	// Keys is how many keys the trial holds whose memory is measured, where the
	// workload names no number of them.
	Keys int

	// Close releases what the trial holds.
	Close func() error
}

// Result is what was measured of one contender under one workload.
type Result struct {
	contender.Info
	Workers int
	Variant string // further part of the name in benchmark form, such as "flood=yes"; often empty

	Nanos  []float64 // per decision, one for each round
	Ratios []float64 // to the floor of the same round
	Added  []float64 // nanoseconds more than the floor of the same round, where Subtract is set
	Events []int     // decisions in each round

	AllocsPerEvent, BytesPerEvent float64 // heap allocations

	HeapPerKey, ProcessPerKey float64 // bytes, 0 where not measured

	Latency *Latency // nil where not measured
}

// Latency is the distribution of the time of single decisions, in nanoseconds: the medians over the
// rounds.
type Latency struct{ P50, P99, P999 float64 }

// Measured is a workload with its results.
type Measured struct {
	Workload
	Results []Result
}
