package main

import (
	"math"

	"github.com/tallyring/tallyring"
)

// counter counts without deciding.
type counter interface {
	reader
	Add(now tallyring.Tick, count uint64) bool
}

// addLoad counts events, many of them late, in counters of one structure.
type addLoad struct {
	*desk
	shape
	noFill
	of      counter
	account *account
	books   []*book
	memory  func() int
	merged  book
}

func newAddLoad(d *desk, s shape, memory func() int, of counter) *addLoad {
	l := &addLoad{desk: d, shape: s, memory: memory, of: of, account: newAccount(s, of)}
	for range d.tallies {
		l.books = append(l.books, &book{})
	}
	return l
}

func (l *addLoad) bytes() int         { return l.memory() }
func (l *addLoad) begin(*round) error { return nil }

func (l *addLoad) bookBytes() int {
	bytes := l.account.bytes() + l.merged.bytes()
	for _, b := range l.books {
		bytes += b.bytes()
	}
	return bytes
}

// storm adds a batch. An event is late by up to two buckets more than the ring holds, so that some
// are dropped; it may be dropped only if time says so.
func (l *addLoad) storm(w *worker) {
	t := l.tallies[w.id]
	if w.random.IntN(16) == 0 {
		r := l.of.Read(w.now())
		t.reads++
		if float64(r.Low) > r.Estimate*(1+1e-9) || r.Estimate > float64(r.High)*(1+1e-9) {
			w.referee.fault(l.structure, "reads %+v, want them in order", r)
		}
	}
	timed := t.due(w.random, batch)
	for range batch {
		now, count := w.now(), uint64(1)
		if w.random.IntN(8) == 0 {
			now -= tallyring.Tick(w.random.Int64N((l.slots + 2) * l.widthNanos))
			count = w.random.Uint64N(4)
		}
		t.adds++
		began := int64(0)
		if timed {
			began = w.watch.nanos()
		}
		counted := l.of.Add(now, count)
		if timed {
			t.took(w.watch.nanos() - began)
			timed = false
		}
		if counted {
			l.books[w.id].count(l.bucket(now), l.bucket(now), count)
			continue
		}
		t.dropped++
		if latest := l.bucket(w.line.Now()); latest-l.bucket(now) < l.slots {
			w.referee.fault(l.structure, "drops an event of bucket %d, and bucket %d is the newest"+
				" at most, of %d", l.bucket(now), latest, l.slots)
		}
	}
}

func (l *addLoad) settle(_ *round, now tallyring.Tick) error {
	return l.account.settle(now, merge(&l.merged, l.books), math.MaxUint64)
}
