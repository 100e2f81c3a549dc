package main

import (
	"fmt"

	"github.com/tallyring/tallyring"
)

// builder makes the structures of one epoch, and the loads on them. What it makes is new; the desks
// are those of the run.
type builder struct {
	line    *timeline
	workers int
	calls   int                    // of storm, by all workers together, for each load in a round
	parts   []func(*builder) error // what there is to build
	desks   map[string]*desk
	names   []string // of desks, in order
	loads   []load
	numbers uint64 // given out so far
	ranges  uint64
}

// everything is all structures.
var everything = []func(*builder) error{
	(*builder).rings, (*builder).spreads, (*builder).tables, (*builder).limiters, (*builder).logs,
	(*builder).trails, (*builder).turns, (*builder).refills, (*builder).joints,
	(*builder).histograms, (*builder).waits,
}

// build makes all structures.
func (b *builder) build() error {
	b.loads, b.numbers, b.ranges = nil, 0, 0
	for _, part := range b.parts {
		if err := part(b); err != nil {
			return fmt.Errorf("building the structures: %w", err)
		}
	}
	return nil
}

func (b *builder) add(l load) { b.loads = append(b.loads, l) }

// desk returns the desk of a structure.
func (b *builder) desk(structure string) *desk {
	if d, ok := b.desks[structure]; ok {
		return d
	}
	d := &desk{structure: structure}
	for range b.workers {
		d.tallies = append(d.tallies, newTally())
	}
	b.desks[structure] = d
	b.names = append(b.names, structure)
	return d
}

// churnKeys returns the room for new keys in a structure: those of three rounds.
func (b *builder) churnKeys() int { return 3 * max(b.calls/churnAsks, 1) * batch }

// scaled returns the limit of a window that all workers ask for, given that of a usual run: in a
// smaller run it is less, so that it is met as often and filled as soon.
func (b *builder) scaled(usual uint64) uint64 {
	const usualCalls, least = defaultBatches * defaultGoroutines, 16
	if usual == tallyring.Unlimited {
		return usual
	}
	return min(usual, max(usual*uint64(b.calls)/usualCalls, usual/least))
}

// number returns a number for a key that nobody else has.
func (b *builder) number() uint64 {
	b.numbers++
	return b.numbers
}

// numberRange returns the first of 2^56 such numbers, which leaves 2^40 to each of many workers.
func (b *builder) numberRange() uint64 {
	b.ranges++
	return b.ranges << 56
}
