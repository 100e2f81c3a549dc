package main

import "github.com/tallyring/tallyring"

// load is what is done to one structure of the engine, with the account of it. Begin and the
// methods that settle run at rest; storm and fill run in all workers at once.
type load interface {
	// common returns what all loads have in common.
	common() *desk
	// begin readies the books for a round that is about to start.
	begin(r *round) error
	// storm does one batch.
	storm(w *worker)
	// settle compares the account with the structure at now, after a storm.
	settle(r *round, now tallyring.Tick) error
	// readyFill is told that a fill follows; it returns false where there is nothing to fill.
	readyFill(now tallyring.Tick) bool
	// fill asks for one event at a time until it is denied.
	fill(w *worker)
	// settleFill is settle after a fill: exactly what was left must have passed.
	settleFill(r *round, now tallyring.Tick) error
	// bytes returns the memory that the structure says it takes.
	bytes() int
	// bookBytes returns the memory of the load's own books, where that may be much.
	bookBytes() int
}

// desk is what loads have in common, and what outlives the structures of one epoch: a name, each
// worker's tally, and what has happened so far. All but the tallies is written at rest.
type desk struct {
	structure string
	tallies   []*tally
	evidence  evidence
	rounds    uint64
}

func (d *desk) common() *desk  { return d }
func (d *desk) bookBytes() int { return 0 }

// noFill is embedded by loads that have nothing to fill.
type noFill struct{}

func (noFill) readyFill(tallyring.Tick) bool           { return false }
func (noFill) fill(*worker)                            {}
func (noFill) settleFill(*round, tallyring.Tick) error { return nil }
