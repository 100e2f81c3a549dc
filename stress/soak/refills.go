package main

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/gcra"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/table"
)

// refillSeconds is in how many seconds a bucket refills: longer than a storm and a late tick take.
const refillSeconds = 4

// refillLoad decides on token buckets, and knows what each owes. A storm begins with so much owed
// that time cannot pay for all of it, so no bucket is ever full: then each charge and each refund
// counts in full, late or not, and what is owed at rest is known exactly.
type refillLoad struct {
	*desk
	windows []window
	rate    uint64 // events a second
	burst   uint64
	varied  bool // the burst is an argument of the decision
	memory  func() int

	books [][]charges // by window and worker
	owed  []float64   // events, at the last rest
	at    tallyring.Tick
	left  []uint64 // what each bucket leaves before a fill
}

// charges is what one goroutine has done to one bucket since the last rest.
type charges struct {
	charged, back uint64
	_             [tallyring.PadBytes]byte // keeps the next goroutine's away
}

func newRefillLoad(
	d *desk, rate uint64, varied bool, memory func() int, windows ...window,
) *refillLoad {
	l := &refillLoad{desk: d, windows: windows, rate: rate, burst: refillSeconds * rate,
		varied: varied, memory: memory,
		owed: make([]float64, len(windows)), left: make([]uint64, len(windows))}
	for range windows {
		l.books = append(l.books, make([]charges, len(d.tallies)))
	}
	return l
}

func (l *refillLoad) bytes() int { return l.memory() }

func (l *refillLoad) bookBytes() int {
	return len(l.windows) * len(l.tallies) * (16 + tallyring.PadBytes)
}

// paid returns the events that time pays for until now.
func (l *refillLoad) paid(now tallyring.Tick) float64 {
	return float64(now-l.at) / float64(time.Second) * float64(l.rate)
}

// begin checks what time has paid for, and charges what a storm must not pay off.
func (l *refillLoad) begin(r *round) error {
	least := 5 * l.rate / 2
	for i, w := range l.windows {
		l.owed[i] = max(l.owed[i]-l.paid(r.start), 0)
		if err := l.compare(i, r.start); err != nil {
			return fmt.Errorf("bucket %d after a pause %w", i, err)
		}
		if more := int64(float64(least) - l.owed[i]); more > 0 {
			if !w.Allow(r.start, uint64(more), l.burst) {
				return fmt.Errorf("bucket %d owes %v and denies %d, its burst is %d",
					i, l.owed[i], more, l.burst)
			}
			l.owed[i] += float64(more)
		}
	}
	l.at = r.start
	return nil
}

// compare holds what a bucket owes at now to what it must owe. Rates are exact fractions, and what
// a float rounds is far less than the part of an event that is let pass.
func (l *refillLoad) compare(i int, now tallyring.Tick) error {
	const part = 1e-3
	r := l.windows[i].Read(now)
	if math.Abs(r.Estimate-l.owed[i]) > part {
		return fmt.Errorf("owes %v at %d, want %v", r.Estimate, now, l.owed[i])
	}
	if float64(r.Low) > r.Estimate || r.Estimate > float64(r.High) || r.High > r.Low+1 {
		return fmt.Errorf("reads %+v, want the whole numbers around what it owes", r)
	}
	return nil
}

// storm charges a batch, takes some of it back, and reads.
func (l *refillLoad) storm(w *worker) {
	t, i := l.tallies[w.id], w.random.IntN(len(l.windows))
	of, book := l.windows[i], &l.books[i][w.id]
	burst, cost := l.burst, uint64(1)
	if l.varied {
		burst = w.limit(burst)
	}
	if w.random.IntN(4) == 0 {
		cost = 1 + w.random.Uint64N(5)
	}
	for n := range batch {
		now := w.now()
		if n%4 != 0 {
			timed, began := n == 1 && t.due(w.random, batch), int64(0)
			if timed {
				began = w.watch.nanos()
			}
			allowed := of.Allow(now, cost, burst)
			if timed {
				t.took(w.watch.nanos() - began)
			}
			t.decisions++
			t.admitted += one(allowed)
			book.charged += cost * one(allowed)
			continue
		}
		d := of.Take(now, cost, burst)
		t.decisions++
		if wrong := l.wrong(d, now, w.line.Now(), cost, burst); wrong != "" {
			w.referee.fault(l.structure, "bucket %d at tick %d, cost %d, burst %d: %+v %s",
				i, now, cost, burst, d, wrong)
			return
		}
		if !d.Allowed {
			continue
		}
		t.admitted++
		t.late += one(w.lag > 0)
		book.charged += cost
		if w.round.refunds && w.random.IntN(2) == 0 {
			of.Refund(d.At, cost)
			book.back += cost
			t.refunds++
		}
	}
}

// wrong says what is wrong with an answer, if anything is.
func (l *refillLoad) wrong(
	d tallyring.Decision, now, latest tallyring.Tick, cost, burst uint64,
) string {
	switch {
	case d.Limit != burst:
		return "names another burst than it was given"
	case d.Remaining > burst:
		return "leaves more than the burst"
	case d.At < max(now, 0) || d.At > latest:
		return fmt.Sprintf("was charged outside of %d to %d", now, latest)
	case d.Allowed && d.RetryAfter != 0:
		return "makes an admitted event wait"
	case !d.Allowed && (d.RetryAfter <= 0 || d.RetryAfter == tallyring.Never && cost <= burst):
		return "gives a denied event a wrong wait"
	case d.Allowed && d.ResetAfter <= 0:
		return "owes nothing after a charge"
	}
	return ""
}

func (l *refillLoad) settle(r *round, now tallyring.Tick) error {
	paid := l.paid(now)
	for i := range l.windows {
		charged, back := l.collect(i)
		most := max(l.owed[i], float64(r.most(l.burst)))
		l.owed[i] += float64(charged) - float64(back) - paid
		if err := l.compare(i, now); err != nil {
			return fmt.Errorf("bucket %d %w", i, err)
		}
		if l.owed[i] > most {
			return fmt.Errorf("bucket %d owes %v, want at most %v", i, l.owed[i], most)
		}
	}
	l.at = now
	return nil
}

// collect adds up the books of a bucket and empties them.
func (l *refillLoad) collect(i int) (charged, back uint64) {
	for worker := range l.books[i] {
		book := &l.books[i][worker]
		charged, back = charged+book.charged, back+book.back
		*book = charges{}
	}
	return charged, back
}

func (l *refillLoad) readyFill(now tallyring.Tick) bool {
	for i, of := range l.windows {
		l.left[i] = l.burst - min(l.burst, of.Read(now).High)
	}
	return true
}

// fill gives way to others now and then, so that they share what is left.
func (l *refillLoad) fill(w *worker) {
	t := l.tallies[w.id]
	for i, of := range l.windows {
		admitted := uint64(0)
		for admitted <= l.left[i] && of.Allow(w.line.Now(), 1, l.burst) {
			if admitted++; admitted%fillShare == 0 {
				runtime.Gosched()
			}
		}
		t.decisions += admitted + 1
		t.admitted += admitted
		l.books[i][w.id].charged += admitted
	}
}

func (l *refillLoad) settleFill(_ *round, now tallyring.Tick) error {
	for i := range l.windows {
		takers := uint64(0)
		for worker := range l.books[i] {
			takers += one(l.books[i][worker].charged > 0)
		}
		charged, _ := l.collect(i)
		if charged != l.left[i] {
			return fmt.Errorf("bucket %d let %d of a crowd pass, want exactly %d",
				i, charged, l.left[i])
		}
		l.owed[i] += float64(charged)
		if err := l.compare(i, now); err != nil {
			return fmt.Errorf("bucket %d after the fill %w", i, err)
		}
		l.evidence.fills++
		l.evidence.sharedFills += one(takers > 1)
	}
	return nil
}

// bucketWindow is a bucket of package gcra as a window. The burst is its own.
type bucketWindow struct{ *gcra.Bucket }

func (b bucketWindow) Allow(now tallyring.Tick, cost, _ uint64) bool {
	return b.Bucket.Allow(now, cost)
}

func (b bucketWindow) Take(now tallyring.Tick, cost, _ uint64) tallyring.Decision {
	return b.Bucket.Take(now, cost)
}

// refills are the loads on token buckets: one by itself, in the cells of a table under bursts that
// change, and behind the limiter's verbs.
func (b *builder) refills() error {
	const keys = 5
	rate := b.scaled(10_000)
	burst := refillSeconds * rate
	one, err := gcra.New(rate, time.Second, burst)
	if err != nil {
		return err
	}
	b.add(newRefillLoad(b.desk("gcra/bucket"), rate, false, one.Bytes, bucketWindow{one}))

	cells, err := gcra.NewRate(rate/keys, time.Second, 2*burst/keys)
	if err != nil {
		return err
	}
	t, err := table.New(table.Config{Keys: keys, Cells: &cells,
		Window: tallyring.Window{Slots: 2, Width: cells.Span()}})
	if err != nil {
		return err
	}
	var windows []window
	for range keys {
		windows = append(windows, tableKey{t, mixed(b.number())})
	}
	b.add(newRefillLoad(b.desk("table/buckets"), rate/keys, true, t.Bytes, windows...))

	l, err := limiter.New(rate/keys, time.Second, limiter.WithClock(b.line),
		limiter.WithBurst(refillSeconds*(rate/keys)), limiter.WithKeys(keys))
	if err != nil {
		return err
	}
	windows = nil
	for i := range keys {
		windows = append(windows, limiterKey{l, fmt.Sprintf("client-%d", i)})
	}
	b.add(newRefillLoad(b.desk("limiter/buckets"), rate/keys, false,
		func() int { return l.Stats().Bytes }, windows...))
	return nil
}
