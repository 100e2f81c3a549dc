package main

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// window is one ring, log, key or limiter of the engine: what decides against one limit.
type window interface {
	reader
	Allow(now tallyring.Tick, cost, limit uint64) bool
	Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision
	Refund(at tallyring.Tick, count uint64)
}

const (
	batch       = 64 // decisions between two looks at the time
	batchTakes  = 16
	fillShare   = 100
	keptEvents  = 16
	batchGroups = 8 // windows that share a batch, at most
)

// windowLoad decides on windows of one structure by every verb, and knows where each event was
// counted.
type windowLoad struct {
	*desk
	shape
	windows  []window
	accounts []*account
	books    [][]*book // by window and worker
	limit    uint64
	tune     func(limit uint64) error // nil where the limit is an argument of the decision
	memory   func() int
	open     bool     // no fill takes what the limit leaves
	left     []uint64 // what each window leaves before a fill
	merged   book

	// newest is, for each window, a bucket in which something was counted, the newest that any
	// goroutine knows of. Whatever is counted after it was read is counted there or later.
	newest []atomic.Int64
	kept   [][]event // by worker: events to be taken back later
}

// event is one that was admitted, and where.
type event struct {
	window int
	at     tallyring.Tick
	cost   uint64
}

func newWindowLoad(
	d *desk, s shape, limit uint64, memory func() int, windows ...window,
) *windowLoad {
	l := &windowLoad{desk: d, shape: s, windows: windows, limit: limit, memory: memory,
		left: make([]uint64, len(windows)), newest: make([]atomic.Int64, len(windows)),
		kept: make([][]event, len(d.tallies))}
	for _, of := range windows {
		l.accounts = append(l.accounts, newAccount(s, of))
		books := make([]*book, len(d.tallies))
		for i := range books {
			books[i] = &book{}
		}
		l.books = append(l.books, books)
	}
	return l
}

func (l *windowLoad) bytes() int { return l.memory() }

func (l *windowLoad) bookBytes() int {
	bytes := l.merged.bytes()
	for i, a := range l.accounts {
		bytes += a.bytes()
		for _, b := range l.books[i] {
			bytes += b.bytes()
		}
	}
	return bytes
}

// begin takes back the kept events that have left the window, which must change nothing that
// counts.
func (l *windowLoad) begin(r *round) error {
	for i, kept := range l.kept {
		l.kept[i] = kept[:0]
		for _, e := range kept {
			if l.leaves(e.at) > r.start {
				l.kept[i] = append(l.kept[i], e)
				continue
			}
			l.windows[e.window].Refund(e.at, e.cost)
		}
	}
	return nil
}

// storm draws a verb.
func (l *windowLoad) storm(w *worker) {
	switch verb := w.random.IntN(16); {
	case verb < 12:
		l.allow(w)
	case verb < 14:
		l.take(w)
	case verb == 14:
		l.ask(w)
	default:
		l.retune(w)
	}
}

// draw returns the limit and the cost of a batch.
func (l *windowLoad) draw(w *worker) (limit, cost uint64) {
	limit, cost = l.limit, 1
	if limit != tallyring.Unlimited {
		limit = w.limit(limit)
	}
	if w.random.IntN(4) == 0 {
		cost = 1 + w.random.Uint64N(3)
	}
	return limit, cost
}

// allow decides on some windows many times, all at one tick. Time may move on meanwhile.
func (l *windowLoad) allow(w *worker) {
	t, before := l.tallies[w.id], w.line.Now()
	now := before - w.lag
	limit, cost := l.draw(w)
	n := min(len(l.windows), batchGroups)
	first := w.random.IntN(len(l.windows) - n + 1)
	var admitted [batchGroups]uint64
	var newest [batchGroups]int64
	for i := range n {
		newest[i] = l.newest[first+i].Load()
	}
	t.decisions += batch
	each := batch / n
	if t.due(w.random, batch) {
		began := w.watch.nanos()
		allowed := l.windows[first].Allow(now, cost, limit)
		t.took(w.watch.nanos() - began)
		t.decisions++
		admitted[0] += one(allowed)
	}
	for half := range 2 {
		for i := range n {
			window := l.windows[first+i]
			for range each / 2 {
				admitted[i] += one(window.Allow(now, cost, limit))
			}
		}
		if half == 0 {
			w.move() // so that the second half is late, if only by a moment
		}
	}
	after := w.line.Now()
	to := l.bucket(after)
	t.turns += one(l.bucket(before) != to)
	for i, passed := range admitted[:n] {
		t.admitted += passed
		if w.lag > 0 {
			t.late += passed
		}
		from := max(l.bucket(now), newest[i])
		l.books[first+i][w.id].count(from, to, passed*cost)
		if passed > 0 {
			l.learn(first+i, from)
		}
	}
	if w.round.refunds && w.random.IntN(4) == 0 && l.same(now, after) && admitted[0] > 0 {
		l.refund(w, event{first, now, 1 + w.random.Uint64N(admitted[0]*cost)})
	}
}

// learn notes that a window's newest bucket is this one or a later one.
func (l *windowLoad) learn(window int, bucket int64) {
	for known := l.newest[window].Load(); known < bucket; known = l.newest[window].Load() {
		// Ends: each failure means that another goroutine has raised it.
		l.newest[window].CompareAndSwap(known, bucket)
	}
}

// refund takes back an event that this goroutine has counted.
func (l *windowLoad) refund(w *worker, e event) {
	l.windows[e.window].Refund(e.at, e.cost)
	l.books[e.window][w.id].takeBack(l.bucket(e.at), e.cost)
	l.tallies[w.id].refunds++
}

// take asks one window for the whole answer, which says where the event was counted. Some events
// are taken back at once, and others later, when their bucket may not be the newest any more. One
// that has left the ring by then is in no bucket that the account looks at.
func (l *windowLoad) take(w *worker) {
	t := l.tallies[w.id]
	limit, cost := l.draw(w)
	i := w.random.IntN(len(l.windows))
	for range batchTakes {
		newest, now := l.newest[i].Load(), w.now()
		d := l.windows[i].Take(now, cost, limit)
		after := w.line.Now()
		earliest := max(now, 0, tallyring.Tick(newest*l.widthNanos))
		if wrong := l.wrong(d, earliest, after, cost, limit); wrong != "" {
			w.referee.fault(l.structure, "window %d at tick %d, cost %d: %+v %s",
				i, now, cost, d, wrong)
			return
		}
		t.decisions++
		if !d.Allowed {
			continue
		}
		t.admitted++
		t.late += one(w.lag > 0)
		l.books[i][w.id].count(l.bucket(d.At), l.bucket(d.At), cost)
		l.learn(i, l.bucket(d.At))
		l.giveBack(w, event{i, d.At, cost})
	}
}

// giveBack takes back an event, or one that was kept, or keeps it.
func (l *windowLoad) giveBack(w *worker, e event) {
	kept, chance := l.kept[w.id], w.random.IntN(4)
	switch {
	case !w.round.refunds:
		if len(kept) < keptEvents {
			l.kept[w.id] = append(kept, e)
		}
	case chance == 0:
		l.refund(w, e)
	case chance == 1 && len(kept) > 0:
		last := len(kept) - 1
		i := w.random.IntN(len(kept))
		l.refund(w, kept[i])
		kept[i] = kept[last]
		l.kept[w.id] = kept[:last]
	case chance >= 2 && len(kept) < keptEvents:
		l.kept[w.id] = append(kept, e)
	}
}

// wrong says what is wrong with an answer, if anything is.
func (l *windowLoad) wrong(
	d tallyring.Decision, earliest, latest tallyring.Tick, cost, limit uint64,
) string {
	switch {
	case l.tune == nil && d.Limit != limit:
		return "names another limit than it was given"
	case d.Remaining > d.Limit:
		return "leaves more than the limit"
	case d.Allowed && d.RetryAfter != 0:
		return "makes an admitted event wait"
	case d.Allowed && (d.At < earliest || d.At > latest):
		return fmt.Sprintf("was counted outside of %d to %d", earliest, latest)
	case !d.Allowed && d.RetryAfter <= 0:
		return "gives a denied event no wait"
	case !d.Allowed && d.RetryAfter == tallyring.Never && 0 < d.Limit && cost <= d.Limit:
		return "never lets pass what the limit can hold"
	}
	return ""
}

// ask does what counts nothing: peeks, events that can never pass, and readings.
func (l *windowLoad) ask(w *worker) {
	t := l.tallies[w.id]
	for range batchTakes {
		i, now := w.random.IntN(len(l.windows)), w.now()
		l.windows[i].Allow(now, 0, l.limit)
		r := l.windows[i].Read(now)
		t.decisions++
		t.reads++
		if float64(r.Low) > r.Estimate*(1+1e-9) || r.Estimate > float64(r.High)*(1+1e-9) {
			w.referee.fault(l.structure, "window %d reads %+v, want them in order", i, r)
		}
		if l.limit == tallyring.Unlimited {
			continue
		}
		sum := r.High
		if l.kind == interpolated {
			sum = r.Low
		}
		if most := l.limit + l.limit/2; sum > most {
			w.referee.fault(l.structure, "window %d reads %+v, want at most %d", i, r, most)
		}
		t.decisions++
		if l.windows[i].Allow(now, 2*l.limit+1, l.limit) {
			w.referee.fault(l.structure, "window %d admits a cost of %d, the limit is %d",
				i, 2*l.limit+1, l.limit)
		}
	}
}

// retune changes the limit, where it is a property of the structure. One worker does, so that the
// number of changes is known.
func (l *windowLoad) retune(w *worker) {
	if l.tune == nil || w.id != 0 {
		l.allow(w)
		return
	}
	if err := l.tune(w.limit(l.limit)); err != nil {
		w.referee.fault(l.structure, "%v", err)
	}
	l.evidence.tunes++
}

// settle takes the limit back to the usual one and compares.
func (l *windowLoad) settle(r *round, now tallyring.Tick) error {
	if l.tune != nil {
		if err := l.tune(l.limit); err != nil {
			return err
		}
	}
	most := uint64(math.MaxUint64)
	if l.limit != tallyring.Unlimited {
		most = r.most(l.limit)
	}
	for i, a := range l.accounts {
		if err := a.settle(now, merge(&l.merged, l.books[i]), most); err != nil {
			return fmt.Errorf("window %d %w", i, err)
		}
	}
	return nil
}

func (l *windowLoad) readyFill(now tallyring.Tick) bool {
	if l.limit == tallyring.Unlimited || l.open {
		return false
	}
	for i, a := range l.accounts {
		l.left[i] = a.left(now, l.limit)
	}
	return true
}

// fill goes from window to window. A goroutine gives way to the others after some events, so that
// they share what is left. Where something was counted in the newest bucket that there can be, some
// are late by more than a bucket: they are decided at its begin, where no less counts.
func (l *windowLoad) fill(w *worker) {
	t, newest := l.tallies[w.id], l.bucket(w.line.Now())
	for i, window := range l.windows {
		now, admitted := w.inBucket(l.shape), uint64(0)
		if l.newest[i].Load() == newest {
			now = w.now()
		}
		for admitted <= l.left[i] && window.Allow(now, 1, l.limit) {
			if admitted++; admitted%fillShare == 0 {
				runtime.Gosched()
			}
		}
		t.decisions += admitted + 1
		t.admitted += admitted
		if w.lag > 0 {
			t.late += admitted
		}
		if admitted > 0 {
			l.learn(i, newest)
		}
		l.books[i][w.id].count(newest, newest, admitted)
	}
}

func (l *windowLoad) settleFill(_ *round, now tallyring.Tick) error {
	for i, a := range l.accounts {
		takers := uint64(0)
		for _, b := range l.books[i] {
			takers += one(len(b.spans) > 0)
		}
		since := merge(&l.merged, l.books[i])
		admitted := uint64(0)
		for _, s := range since {
			admitted += s.counted
		}
		if admitted != l.left[i] {
			return fmt.Errorf("window %d let %d of a crowd pass, want exactly %d",
				i, admitted, l.left[i])
		}
		if err := a.settle(now, since, l.limit); err != nil {
			return fmt.Errorf("window %d after the fill %w", i, err)
		}
		l.evidence.fills++
		l.evidence.sharedFills += one(takers > 1)
	}
	return nil
}

// one returns 1 for true.
func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
