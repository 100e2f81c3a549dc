package main

import (
	"fmt"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

const (
	floodLimit = 5
	floodBatch = 8 // new keys in a batch; a search in vain takes as long as many hits
	floodDebts = 4 // debtors asked for in a batch
	debtors    = 48
)

// floodLoad fills a small table with ever new keys, each asked for once, while debtors stand at
// their limit. The window is strict or a log and much longer than a storm.
//
// A flood begins when everything has left the window: the debtors are driven to their limit, alone.
// Until they leave the window too, the books are exact: each new key has found a cell, or was
// refused and met the policy; all that found one are live; and every debtor is denied.
type floodLoad struct {
	*desk
	shape
	noFill
	of      keyed
	keys    uint64 // that always fit
	policy  table.Policy
	debtors []uint64
	next    []uint64 // by worker: its next key

	began  bool
	seeded tallyring.Tick // when the debtors were counted
	last   tallyring.Tick // no key was counted later
	before uint64         // events refused before the flood
	state  keyedState     // at the last rest
	asked  []uint64       // by worker, since then
	passed []uint64
	debts  []uint64 // by worker, in this round
	owed   bool     // the debtors owe all through this round
}

func newFloodLoad(
	d *desk, s shape, keys int, policy table.Policy, first uint64, of keyed,
) *floodLoad {
	l := &floodLoad{desk: d, shape: s, of: of, keys: uint64(keys), policy: policy}
	for i := range debtors {
		l.debtors = append(l.debtors, mixed(first+uint64(i)))
	}
	for i := range d.tallies {
		l.next = append(l.next, first+uint64(i+1)<<40)
	}
	l.asked = make([]uint64, len(d.tallies))
	l.passed = make([]uint64, len(d.tallies))
	l.debts = make([]uint64, len(d.tallies))
	return l
}

func (l *floodLoad) bytes() int { return l.of.bytes() }

// begin starts a flood if nothing counts any more, not even at the latest tick of all.
func (l *floodLoad) begin(r *round) error {
	from, to := r.span()
	if !l.began || l.leaves(l.last) <= from {
		if err := l.seed(r.start); err != nil {
			return err
		}
	}
	l.last = to
	l.owed = to < l.leaves(l.seeded)
	return nil
}

// seed drives the debtors to their limit.
func (l *floodLoad) seed(now tallyring.Tick) error {
	var allowed [1]bool
	for i, debtor := range l.debtors {
		for event := range floodLimit + 1 {
			l.of.ask([]uint64{debtor}, now, floodLimit, allowed[:])
			if allowed[0] != (event < floodLimit) {
				return fmt.Errorf("debtor %d before the flood: event %d allowed is %v, the limit "+
					"is %d", i, event+1, allowed[0], floodLimit)
			}
		}
	}
	l.tallies[0].decisions += uint64(len(l.debtors)) * (floodLimit + 1)
	l.tallies[0].admitted += uint64(len(l.debtors)) * floodLimit
	l.began, l.seeded, l.before = true, now, l.of.state(now).refused
	clear(l.asked)
	clear(l.passed)
	l.evidence.seeds++
	return nil
}

// storm asks for new keys, and for some debtors. No tick is before the debtors were counted.
func (l *floodLoad) storm(w *worker) {
	t, now := l.tallies[w.id], max(w.now(), l.seeded)
	var keys [floodBatch]uint64
	var allowed [floodBatch]bool
	for i := range keys {
		keys[i] = mixed(l.next[w.id])
		l.next[w.id]++
	}
	begin := 0
	if t.due(w.random, floodBatch) {
		began := w.watch.nanos()
		l.of.ask(keys[:1], now, floodLimit, allowed[:1])
		t.took(w.watch.nanos() - began)
		begin = 1
	}
	l.of.ask(keys[begin:], now, floodLimit, allowed[begin:])
	for _, passed := range allowed {
		l.passed[w.id] += one(passed)
		t.admitted += one(passed)
	}
	l.asked[w.id] += uint64(len(keys))
	t.decisions += uint64(len(keys))
	if l.owed {
		l.dun(w)
	}
}

// dun asks for some debtors, none of which may pass.
func (l *floodLoad) dun(w *worker) {
	var allowed [1]bool
	for range floodDebts {
		i, now := w.random.IntN(len(l.debtors)), max(w.now(), l.seeded)
		l.of.ask(l.debtors[i:i+1], now, floodLimit, allowed[:])
		if allowed[0] {
			w.referee.fault(l.structure, "debtor %d got a fresh budget at tick %d, want it denied "+
				"until %d", i, now, l.leaves(l.seeded))
			return
		}
	}
	l.debts[w.id] += floodDebts
	l.tallies[w.id].decisions += floodDebts
}

// settle checks the books of the flood.
func (l *floodLoad) settle(_ *round, now tallyring.Tick) error {
	state := l.of.state(now)
	asked, passed := total(l.asked), total(l.passed)
	refused := state.refused - l.before
	l.evidence.note(&l.state, state)
	l.evidence.debts += total(l.debts)
	clear(l.debts)
	if !l.owed {
		// Some cells are free again: what a key found there is not known, but whether it was.
		if l.policy == table.Deny && passed != asked-refused || passed < asked-refused {
			return fmt.Errorf("%d of %d new keys passed, %d were refused", passed, asked, refused)
		}
		return nil
	}
	placed := asked - refused
	want := placed
	switch l.policy {
	case table.Allow:
		want += refused
	case table.Overflow:
		want += min(refused, floodLimit)
	}
	live := uint64(len(l.debtors)) + placed
	switch {
	case passed != want:
		return fmt.Errorf("%d of %d new keys passed, %d were refused, want %d to pass",
			passed, asked, refused, want)
	case state.live != live || live > state.cells:
		return fmt.Errorf("%d keys are live in %d cells, want %d", state.live, state.cells, live)
	case refused > 0 && live < l.keys:
		return fmt.Errorf("%d events were refused with %d live keys, want %d to fit",
			refused, live, l.keys)
	}
	return nil
}
