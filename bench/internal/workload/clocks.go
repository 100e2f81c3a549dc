package workload

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/floor"
)

// clocks are the ways to know the time of a decision.
func clocks() (Workload, error) {
	return Workload{
		Bench: "Clock",
		Title: "Clocks, without a decision",
		About: "What the time of an event costs its caller, before anything is decided.",
		Floor: "time.Now", Together: true,
		Entries: []Entry{
			{contender.Info{Name: "time.Now", Kind: contender.Peer}, clockTrial(readTime)},
			{contender.Info{Name: "tallyring-monotonic", Note: "the system's clock"},
				clockTrial(readClock(tallyring.Monotonic()))},
			{contender.Info{Name: "tallyring-cycle", Note: "the processor's counter, in order"},
				clockTrial(readClock(tallyring.Cycle()))},
			{contender.Info{Name: "tallyring", Note: "the default: the counter, not in order"},
				clockTrial(readClock(tallyring.RelaxedCycle()))},
			{contender.Info{Name: "tallyring-coarse", Note: "set every millisecond by a goroutine"},
				coarseTrial},
		},
	}, nil
}

func clockTrial(read func(n int) int) func() (Trial, error) {
	return func() (Trial, error) {
		return Trial{Run: func(_, _, events int) int { return read(events) }}, nil
	}
}

// coarseTrial reads a clock that must be closed.
func coarseTrial() (Trial, error) {
	clock, err := tallyring.NewCoarseClock(time.Millisecond)
	if err != nil {
		return Trial{}, err
	}
	read := readClock(clock)
	return Trial{
		Run:   func(_, _, events int) int { return read(events) },
		Close: func() error { clock.Close(); return nil },
	}, nil
}

// readTime returns how many of n readings were no earlier than the one before.
func readTime(n int) (forward int) {
	last := time.Now()
	for range n {
		now := time.Now()
		if !now.Before(last) {
			forward++
		}
		last = now
	}
	return forward
}

// readClock is readTime for a clock of the engine.
func readClock(clock tallyring.Clock) func(int) int {
	return func(n int) (forward int) {
		last := clock.Now()
		for range n {
			now := clock.Now()
			if now >= last {
				forward++
			}
			last = now
		}
		return forward
	}
}

// floorsSource is what everything else is made of.
func floorsSource(keys int) Source {
	return Source{"Floor", func() (Workload, error) {
		hashes := randomHashes(keys)
		entries := append(floorEntries(), linesEntry(hashes, keys), batchedLines(hashes))
		entries = append(entries, Entry{floorInfo("floor-chain",
			"a load whose address is what the load before returned"), func() (Trial, error) {
			chain := floor.NewChain(linesFor(keys))
			var at uint64
			return Trial{Run: func(_, _, events int) int {
				at = chain.Walk(at, events)
				return events
			}}, nil
		}})
		return Workload{
			Bench: "Floor",
			Title: "The floor",
			About: "What no decision can beat: operations on one word, and on lines picked at " +
				"random from as many as " + people(keys) + " keys take.",
			Floor: floorCAS, Together: true, Entries: entries,
		}, nil
	}}
}
