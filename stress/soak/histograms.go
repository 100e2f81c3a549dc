package main

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/exphist"
)

// histogram is what a histogramLoad drives.
type histogram interface {
	reader
	Allow(now tallyring.Tick, cost, limit uint64) bool
	Add(now tallyring.Tick, count uint64)
}

// histogramLoad counts in an exponential histogram, by decisions and without, and knows about which
// tick each batch was counted: so the true count of its window lies between two sums, and what it
// reads must lie within its error of them.
type histogramLoad struct {
	*desk
	noFill
	of     histogram
	length tallyring.Tick
	eps    float64
	limit  uint64 // 0 where nothing is decided
	memory func() int

	books [][]stretch // by worker
	past  []stretch
}

// stretch is a number of events that were counted between two ticks.
type stretch struct {
	from, to tallyring.Tick
	events   uint64
}

// stretchBytes is the memory of one.
const stretchBytes = 24

func newHistogramLoad(
	d *desk, of histogram, length time.Duration, eps float64, limit uint64, memory func() int,
) *histogramLoad {
	return &histogramLoad{desk: d, of: of, length: tallyring.Tick(length), eps: eps, limit: limit,
		memory: memory, books: make([][]stretch, len(d.tallies))}
}

func (l *histogramLoad) bytes() int         { return l.memory() }
func (l *histogramLoad) begin(*round) error { return nil }

func (l *histogramLoad) bookBytes() int {
	bytes := cap(l.past) * stretchBytes
	for _, b := range l.books {
		bytes += cap(b) * stretchBytes
	}
	return bytes
}

// storm counts a batch. A late event is counted at the newest tick of the histogram, which is no
// later than the timeline is after the call.
func (l *histogramLoad) storm(w *worker) {
	t, now := l.tallies[w.id], w.now()
	s := stretch{from: now}
	timed, began := t.due(w.random, batch), w.watch.nanos()
	for range batch {
		cost := 1 + w.random.Uint64N(3)
		if l.limit == 0 {
			l.of.Add(now, cost)
			t.adds++
			s.events += cost
			continue
		}
		t.decisions++
		if l.of.Allow(now, cost, l.limit) {
			t.admitted++
			t.late += one(w.lag > 0)
			s.events += cost
		}
	}
	if timed {
		t.took((w.watch.nanos() - began) / batch)
	}
	if s.to = w.line.Now(); s.events > 0 {
		l.books[w.id] = append(l.books[w.id], s)
	}
	if r := l.of.Read(w.now()); float64(r.Low) > r.Estimate || r.Estimate > float64(r.High) {
		w.referee.fault(l.structure, "reads %+v, want it in order", r)
	}
	t.reads++
}

// settle compares the reading with the true count, and forgets what has left the window.
func (l *histogramLoad) settle(_ *round, now tallyring.Tick) error {
	for i, b := range l.books {
		l.past = append(l.past, b...)
		l.books[i] = b[:0]
	}
	certain, possible := uint64(0), uint64(0)
	kept := l.past[:0]
	for _, s := range l.past {
		if s.to <= now-l.length {
			continue
		}
		kept = append(kept, s)
		possible += s.events
		if s.from > now-l.length {
			certain += s.events
		}
	}
	l.past = kept
	r := l.of.Read(now)
	switch {
	case r.Low > possible || r.High < certain:
		return fmt.Errorf("reads %d to %d at %d, want %d to %d in between",
			r.Low, r.High, now, certain, possible)
	case r.Estimate < float64(certain)*(1-l.eps) || r.Estimate > float64(possible)*(1+l.eps):
		return fmt.Errorf("estimates %v at %d, want %d to %d within %v",
			r.Estimate, now, certain, possible, l.eps)
	case l.limit > 0 && certain > l.limit:
		return fmt.Errorf("let %d pass in the window that ends at %d, want at most %d",
			certain, now, l.limit)
	}
	return nil
}

// histograms are the loads on exponential histograms: one that decides and one that counts.
func (b *builder) histograms() error {
	const length, eps = 1500 * time.Millisecond, 0.05
	limit := b.scaled(20_000)
	for _, h := range []struct {
		name  string
		limit uint64
	}{{"exphist/decides", limit}, {"exphist/counts", 0}} {
		of, err := exphist.New(length, eps, 1<<30)
		if err != nil {
			return err
		}
		b.add(newHistogramLoad(b.desk(h.name), of, length, eps, h.limit, of.Bytes))
	}
	return nil
}
