package main

import "fmt"

// builder makes the structures of one epoch, and the loads on them. What it makes is new; the desks
// are those of the run.
type builder struct {
	line    *timeline
	workers int
	calls   int // of storm, by all workers together, for each load in a round
	desks   map[string]*desk
	names   []string // of desks, in order
	loads   []load
	numbers uint64 // given out so far
	ranges  uint64
}

// build makes all structures.
func (b *builder) build() error {
	b.loads, b.numbers, b.ranges = nil, 0, 0
	for _, part := range []func() error{
		b.rings, b.spreads, b.tables, b.limiters, b.logs, b.trails,
	} {
		if err := part(); err != nil {
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
