package main

import (
	"fmt"
	"slices"

	"github.com/tallyring/tallyring"
)

const tickBytes = 8

// trailLoad decides on strict windows of narrow buckets by Take alone, and keeps the tick as
// counted of each event: so every trailing window of every tick can be checked, also those that
// have come and gone within one storm, in which buckets turn by the hundred.
type trailLoad struct {
	*desk
	shape
	noFill
	of      window
	account *account
	limit   uint64
	length  tallyring.Tick     // of the trailing window
	ticks   [][]tallyring.Tick // by worker: when each event of cost 1 was counted
	books   []*book
	all     []tallyring.Tick // in order; those of earlier rounds that may share a window with later
	memory  func() int
	merged  book
}

// newTrailLoad makes a load on a strict window or a log, of which no trailing length may hold more
// than the limit; or on a fixed window, of which no bucket may.
func newTrailLoad(
	d *desk, s shape, length tallyring.Tick, limit uint64, memory func() int, of window,
) *trailLoad {
	l := &trailLoad{desk: d, shape: s, of: of, account: newAccount(s, of), limit: limit,
		length: length, memory: memory, ticks: make([][]tallyring.Tick, len(d.tallies))}
	for range d.tallies {
		l.books = append(l.books, &book{})
	}
	return l
}

func (l *trailLoad) bytes() int         { return l.memory() }
func (l *trailLoad) begin(*round) error { return nil }

func (l *trailLoad) bookBytes() int {
	ticks := cap(l.all)
	for _, of := range l.ticks {
		ticks += cap(of)
	}
	return ticks * tickBytes
}

func (l *trailLoad) storm(w *worker) {
	t, before := l.tallies[w.id], w.line.Now()
	for range batchTakes {
		w.move()
		now := w.now()
		timed := t.due(w.random, 1)
		began := int64(0)
		if timed {
			began = w.watch.nanos()
		}
		d := l.of.Take(now, 1, l.limit)
		if timed {
			t.took(w.watch.nanos() - began)
		}
		t.decisions++
		if !d.Allowed {
			continue
		}
		if after := w.line.Now(); d.At < max(now, 0) || d.At > after {
			w.referee.fault(l.structure, "event at %d was counted at %d, want %d to %d",
				now, d.At, max(now, 0), after)
			return
		}
		t.admitted++
		t.late += one(w.lag > 0)
		l.ticks[w.id] = append(l.ticks[w.id], d.At)
		l.books[w.id].count(l.bucket(d.At), l.bucket(d.At), 1)
	}
	t.turns += one(l.bucket(before) != l.bucket(w.line.Now()))
}

// settle puts the events in order and slides the window over them.
func (l *trailLoad) settle(_ *round, now tallyring.Tick) error {
	for i := range l.ticks {
		l.all = append(l.all, l.ticks[i]...)
		l.ticks[i] = l.ticks[i][:0]
	}
	slices.Sort(l.all)
	first := 0
	for i, at := range l.all {
		for !l.together(l.all[first], at) {
			first++
		}
		if within := uint64(i - first + 1); within > l.limit {
			return fmt.Errorf("%d events were counted from %d to %d, want at most %d in %d ns",
				within, l.all[first], at, l.limit, l.length)
		}
	}
	// What has left the window at the latest tick that is to come meets no later event.
	earliest := now - tallyring.Tick(maxLag)
	left := 0
	for left < len(l.all) && l.leaves(l.all[left]) <= earliest {
		left++
	}
	l.all = append(l.all[:0], l.all[left:]...)
	return l.account.settle(now, merge(&l.merged, l.books), l.limit)
}

// together tells whether two ticks share a window.
func (l *trailLoad) together(early, late tallyring.Tick) bool {
	if l.slots == 1 {
		return l.bucket(early) == l.bucket(late)
	}
	return late-early < l.length
}
