package main

import "fmt"

// evidence counts what must have happened in a run, or it has shown nothing. It is written at rest,
// but for tunes, which worker 0 alone counts.
type evidence struct {
	tunes       uint64 // limits changed while others decided
	fills       uint64 // windows filled to their limit by a crowd
	sharedFills uint64 // of these, the ones from which two goroutines or more took a part
	met         uint64 // new keys on which two goroutines or more were admitted
	takenOver   uint64 // cells that passed from one key to another
	refused     uint64 // events whose key found no cell
	seeds       uint64 // floods that began with an empty table
	debts       uint64 // denials of debtors during a flood
	generations uint64 // generations of shares that ended, at least: one for each change of limit
}

func (e *evidence) add(other evidence) {
	e.tunes += other.tunes
	e.fills += other.fills
	e.sharedFills += other.sharedFills
	e.met += other.met
	e.takenOver += other.takenOver
	e.refused += other.refused
	e.seeds += other.seeds
	e.debts += other.debts
	e.generations += other.generations
}

// note adds what a structure says has happened to it since its last state.
func (e *evidence) note(last *keyedState, state keyedState) {
	e.takenOver += state.takenOver - last.takenOver
	e.refused += state.refused - last.refused
	*last = state
}

// happening is one kind of what must have happened.
type happening struct {
	what  string
	times uint64
}

// events lists what happened, from all structures and all workers together.
func events(e evidence, t *tally, flips uint64) []happening {
	return []happening{
		{"bucket turned during a batch of decisions", t.turns},
		{"windows filled to the limit by a crowd", e.fills},
		{"windows whose limit several goroutines shared", e.sharedFills},
		{"limits changed while in use", e.tunes},
		{"generations of shares ended, at least", e.generations},
		{"refunds", t.refunds},
		{"events admitted at a late tick", t.late},
		{"late adds dropped", t.dropped},
		{"new keys admitted to several goroutines at once", e.met},
		{"keys that came back by a tick of a window that has passed", t.ghosts},
		{"cells taken over", e.takenOver},
		{"inserts refused by a full table", e.refused},
		{"floods of an empty table", e.seeds},
		{"debtors denied during a flood", e.debts},
		{"changes of GOMAXPROCS in use", flips},
	}
}

// missing returns an error that names a kind of event that never happened, if there is one.
func missing(happened []happening) error {
	for _, kind := range happened {
		if kind.times == 0 {
			return fmt.Errorf("the run has not shown what it should: never happened: %s",
				kind.what)
		}
	}
	return nil
}
