package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// queue is a limiter in which one can wait.
type queue interface {
	ReserveKey(k limiter.Key, cost uint64) *limiter.Reservation
	TakeKey(k limiter.Key, now tallyring.Tick, cost uint64) tallyring.Decision
	RefundKey(k limiter.Key, at tallyring.Tick, cost uint64)
	PeekKey(k limiter.Key, now tallyring.Tick) tallyring.Reading
	SetLimit(limit uint64) error
	Stats() limiter.Stats
}

// waitLoad lets goroutines take places in the queues of some keys, and give some of them up, while
// time moves on, limits change, and others ask without a place. Time is a clock of its own, which
// the goroutines move, since it has to call those who wait.
type waitLoad struct {
	*desk
	noFill
	of     queue
	clock  *tallyring.ManualClock
	keys   []limiter.Key
	limit  uint64
	window time.Duration

	rows     [][]place            // by worker: those that may still wait
	admitted [][][]tallyring.Tick // by worker and key, of this round
	past     [][]tallyring.Tick   // by key
}

// place is a reservation, and whose turn it is.
type place struct {
	key int
	is  *limiter.Reservation
}

const (
	waitPlaces = 32 // of one goroutine, at most
	waitKeys   = 4
)

func newWaitLoad(
	d *desk, of queue, clock *tallyring.ManualClock, limit uint64, window time.Duration,
) *waitLoad {
	l := &waitLoad{desk: d, of: of, clock: clock, limit: limit, window: window,
		rows: make([][]place, len(d.tallies)), admitted: make([][][]tallyring.Tick, len(d.tallies)),
		past: make([][]tallyring.Tick, waitKeys)}
	for i := range waitKeys {
		l.keys = append(l.keys, limiter.Key(i+2))
	}
	for worker := range l.admitted {
		l.admitted[worker] = make([][]tallyring.Tick, waitKeys)
	}
	return l
}

// newQueue returns an exact log on a clock of its own.
func newQueue(limit uint64, window time.Duration) (
	*limiter.Limiter, *tallyring.ManualClock, error,
) {
	clock := &tallyring.ManualClock{}
	l, err := limiter.New(limit, window, limiter.WithLog(), limiter.WithClock(clock),
		limiter.WithKeys(waitKeys))
	return l, clock, err
}

func (l *waitLoad) bytes() int         { return l.of.Stats().Bytes }
func (l *waitLoad) begin(*round) error { return nil }

func (l *waitLoad) bookBytes() int {
	bytes := 0
	for key := range l.past {
		bytes += cap(l.past[key]) * tickBytes
		for worker := range l.admitted {
			bytes += cap(l.admitted[worker][key]) * tickBytes
		}
	}
	return bytes
}

// storm takes places and gives some up, moves the clock, and looks who has passed.
func (l *waitLoad) storm(w *worker) {
	t := l.tallies[w.id]
	for range batchTakes {
		key := w.random.IntN(waitKeys)
		switch w.random.IntN(8) {
		case 0, 1, 2:
			if len(l.rows[w.id]) < waitPlaces {
				timed, began := t.due(w.random, batchTakes), w.watch.nanos()
				l.rows[w.id] = append(l.rows[w.id], place{key, l.of.ReserveKey(l.keys[key], 1)})
				if timed {
					t.took(w.watch.nanos() - began)
				}
				t.decisions++
			}
		case 3:
			if n := len(l.rows[w.id]); n > 0 {
				l.rows[w.id][w.random.IntN(n)].is.Cancel()
			}
		case 4:
			d := l.of.TakeKey(l.keys[key], l.clock.Now(), 1)
			if t.decisions++; d.Allowed {
				l.of.RefundKey(l.keys[key], d.At, 1)
				t.refunds++
			}
		case 5:
			if w.round.limits && w.id == 0 {
				// A limit that was in range when the load was made is.
				_ = l.of.SetLimit(1 + w.random.Uint64N(l.limit))
				_ = l.of.SetLimit(l.limit)
				l.evidence.tunes++
			}
		default:
			l.clock.Advance(l.window / 50)
		}
	}
	l.look(w.id)
}

// look notes which of a goroutine's reservations are over.
func (l *waitLoad) look(worker int) {
	l.rows[worker] = slices.DeleteFunc(l.rows[worker], func(p place) bool {
		select {
		case <-p.is.Done():
		default:
			return false
		}
		if d, err := p.is.Result(); err == nil {
			l.admitted[worker][p.key] = append(l.admitted[worker][p.key], d.At)
			l.tallies[worker].admitted++
		}
		return true
	})
}

// settle lets time go on until everyone has passed, and compares.
func (l *waitLoad) settle(*round, tallyring.Tick) error {
	for waits := l.of.Stats().Waiting; waits > 0; waits = l.of.Stats().Waiting {
		l.clock.Advance(l.window)
		if left := l.of.Stats().Waiting; left == waits {
			return fmt.Errorf("lets none of %d pass within %v", waits, l.window)
		}
	}
	for worker := range l.rows {
		if l.look(worker); len(l.rows[worker]) > 0 {
			return fmt.Errorf("counts nobody who waits, and %d do", len(l.rows[worker]))
		}
	}
	now := l.clock.Now()
	for key := range l.past {
		for worker := range l.admitted {
			l.past[key] = append(l.past[key], l.admitted[worker][key]...)
			l.admitted[worker][key] = l.admitted[worker][key][:0]
		}
		if err := l.compare(key, now); err != nil {
			return fmt.Errorf("key %d %w", key, err)
		}
	}
	return nil
}

// compare checks every window that ends with an event, and what counts at now.
func (l *waitLoad) compare(key int, now tallyring.Tick) error {
	ticks, first := l.past[key], 0
	slices.Sort(ticks)
	for last, at := range ticks {
		for at-ticks[first] >= tallyring.Tick(l.window) {
			first++
		}
		if count := last - first + 1; count > int(l.limit) {
			return fmt.Errorf("let %d pass in the window that ends at %d, want at most %d",
				count, at, l.limit)
		}
	}
	left := slices.IndexFunc(ticks, func(at tallyring.Tick) bool {
		return at > now-tallyring.Tick(l.window)
	})
	if left < 0 {
		left = len(ticks)
	}
	l.past[key] = slices.Delete(ticks, 0, left)
	if r := l.of.PeekKey(l.keys[key], now); r.High != uint64(len(l.past[key])) {
		return fmt.Errorf("counts %d at %d, want the %d that have passed", r.High, now,
			len(l.past[key]))
	}
	return nil
}

// waits is the load on those who wait.
func (b *builder) waits() error {
	const limit, window = 20, time.Second
	l, clock, err := newQueue(limit, window)
	if err != nil {
		return err
	}
	b.add(newWaitLoad(b.desk("limiter/waits"), l, clock, limit, window))
	return nil
}
