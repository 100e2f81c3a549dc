package main

import (
	"fmt"
	"math"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// several is what a jointLoad drives.
type several interface {
	Key(text string) limiter.Key
	TakeKey(k limiter.Key, now tallyring.Tick, cost uint64) limiter.Joint
	RefundKey(k limiter.Key, j limiter.Joint, cost uint64)
	Limiters() []*limiter.Limiter
}

// jointLoad asks for events that several rates must all admit. Each rate of each key has an account
// of its own: of what is denied nothing may stay counted, though much of it is charged and taken
// back while others ask.
type jointLoad struct {
	*desk
	of     several
	shapes []shape // by rate
	limits []uint64
	keys   []limiter.Key

	accounts [][]*account // by key and rate
	books    [][][]*book  // by key, rate and worker
	left     []uint64     // by key, before a fill
	passed   [][]uint64   // by key and worker, in a fill
	merged   book
}

// rateReader reads one rate of one key.
type rateReader struct {
	of  *limiter.Limiter
	key limiter.Key
}

func (r rateReader) Read(now tallyring.Tick) tallyring.Reading { return r.of.PeekKey(r.key, now) }

func newJointLoad(
	d *desk, of several, shapes []shape, limits []uint64, keys int,
) *jointLoad {
	l := &jointLoad{desk: d, of: of, shapes: shapes, limits: limits, left: make([]uint64, keys)}
	for i := range keys {
		key := of.Key(fmt.Sprintf("client-%d", i))
		var accounts []*account
		books := make([][]*book, len(shapes))
		for rate, s := range shapes {
			accounts = append(accounts, newAccount(s, rateReader{of.Limiters()[rate], key}))
			for range d.tallies {
				books[rate] = append(books[rate], &book{})
			}
		}
		l.keys = append(l.keys, key)
		l.accounts, l.books = append(l.accounts, accounts), append(l.books, books)
		l.passed = append(l.passed, make([]uint64, len(d.tallies)))
	}
	return l
}

func (l *jointLoad) begin(*round) error { return nil }

func (l *jointLoad) bytes() int {
	sum := 0
	for _, one := range l.of.Limiters() {
		sum += one.Stats().Bytes
	}
	return sum
}

func (l *jointLoad) bookBytes() int {
	bytes := l.merged.bytes()
	for key, accounts := range l.accounts {
		for rate, a := range accounts {
			bytes += a.bytes()
			for _, b := range l.books[key][rate] {
				bytes += b.bytes()
			}
		}
	}
	return bytes
}

// take asks for one event, and notes where each rate has counted it.
func (l *jointLoad) take(
	w *worker, key int, now tallyring.Tick, cost uint64,
) (limiter.Joint, bool) {
	j := l.of.TakeKey(l.keys[key], now, cost)
	after := w.line.Now()
	l.tallies[w.id].decisions++
	if wrong := l.wrong(j, now, after, cost); wrong != "" {
		w.referee.fault(l.structure, "key %d at tick %d, cost %d: %+v %s", key, now, cost, j, wrong)
		return j, false
	}
	if j.Allowed {
		l.tallies[w.id].admitted++
		for rate, s := range l.shapes {
			bucket := s.bucket(j.CountedAt(rate))
			l.books[key][rate][w.id].count(bucket, bucket, cost)
		}
	}
	return j, j.Allowed
}

// storm asks for a batch of events of one key, and takes some of them back.
func (l *jointLoad) storm(w *worker) {
	t, key, cost := l.tallies[w.id], w.random.IntN(len(l.keys)), uint64(1)
	if w.random.IntN(4) == 0 {
		cost = 1 + w.random.Uint64N(4)
	}
	began := w.watch.nanos()
	l.of.TakeKey(l.keys[key], w.now(), 0)
	if t.decisions++; t.due(w.random, batch) {
		t.took(w.watch.nanos() - began)
	}
	for range batch {
		j, allowed := l.take(w, key, w.now(), cost)
		t.late += one(allowed && w.lag > 0)
		if !allowed || !w.round.refunds || w.random.IntN(4) > 0 {
			continue
		}
		l.of.RefundKey(l.keys[key], j, cost)
		t.refunds++
		for rate, s := range l.shapes {
			l.books[key][rate][w.id].takeBack(s.bucket(j.CountedAt(rate)), cost)
		}
	}
}

// wrong says what is wrong with an answer, if anything is.
func (l *jointLoad) wrong(j limiter.Joint, now, latest tallyring.Tick, cost uint64) string {
	if !j.Allowed {
		switch {
		case j.DeniedBy < 0 || j.DeniedBy >= len(l.limits):
			return "names no rate that denied"
		case j.Limit != l.limits[j.DeniedBy]:
			return "names another limit than that of the rate which denied"
		case j.RetryAfter <= 0 || j.RetryAfter == tallyring.Never && cost <= j.Limit:
			return "gives a denied event a wrong wait"
		}
		return ""
	}
	if j.DeniedBy != -1 || j.RetryAfter != 0 {
		return "says that an admitted event was denied"
	}
	for rate := range l.limits {
		if at := j.CountedAt(rate); at < max(now, 0) || at > latest {
			return fmt.Sprintf("was counted by rate %d outside of %d to %d", rate, now, latest)
		}
	}
	return ""
}

func (l *jointLoad) settle(_ *round, now tallyring.Tick) error {
	for key, accounts := range l.accounts {
		for rate, a := range accounts {
			since := merge(&l.merged, l.books[key][rate])
			if err := a.settle(now, since, l.limits[rate]); err != nil {
				return fmt.Errorf("key %d, rate %d %w", key, rate, err)
			}
		}
	}
	return nil
}

func (l *jointLoad) readyFill(now tallyring.Tick) bool {
	for key, accounts := range l.accounts {
		l.left[key] = math.MaxUint64
		for rate, a := range accounts {
			l.left[key] = min(l.left[key], a.left(now, l.limits[rate]))
		}
	}
	return true
}

// fill asks until the first denial. That may be for want of a charge which is taken back just then,
// so a crowd need not take all that is left.
func (l *jointLoad) fill(w *worker) {
	for key := range l.keys {
		l.passed[key][w.id] = 0
		for l.passed[key][w.id] <= l.left[key] {
			if _, allowed := l.take(w, key, w.line.Now(), 1); !allowed {
				break
			}
			l.passed[key][w.id]++
		}
	}
}

// settleFill takes what the crowd has left, and then exactly what was left must have passed.
func (l *jointLoad) settleFill(r *round, now tallyring.Tick) error {
	for key := range l.keys {
		passed, takers := uint64(0), uint64(0)
		for _, n := range l.passed[key] {
			passed += n
			takers += one(n > 0)
		}
		for passed <= l.left[key] {
			j := l.of.TakeKey(l.keys[key], now, 1)
			if !j.Allowed {
				break
			}
			passed++
			for rate, s := range l.shapes {
				l.books[key][rate][0].count(s.bucket(now), s.bucket(now), 1)
			}
		}
		if passed != l.left[key] {
			return fmt.Errorf("key %d let %d pass, want exactly %d", key, passed, l.left[key])
		}
		l.evidence.fills++
		l.evidence.sharedFills += one(takers > 1)
	}
	return l.settle(r, now)
}

// joints are the loads on several rates at once, strict and interpolated.
func (b *builder) joints() error {
	for _, j := range []struct {
		name   string
		kind   kind
		strict limiter.Option
	}{
		{"several/strict", whole, limiter.WithStrictWindow()},
		{"several/interpolated", interpolated, nil},
	} {
		limits := []uint64{b.scaled(1_000), b.scaled(2_500), b.scaled(6_000)}
		windows := []time.Duration{200 * time.Millisecond, 700 * time.Millisecond, 3 * time.Second}
		var rates []limiter.Rate
		var shapes []shape
		for i, length := range windows {
			rates = append(rates, limiter.Rate{Limit: limits[i], Window: length})
			shapes = append(shapes, shape{j.kind, int64(length), 2})
		}
		const keys = 3
		of, err := limiter.NewSeveral(rates, j.strict, limiter.WithClock(b.line),
			limiter.WithKeys(keys))
		if err != nil {
			return err
		}
		b.add(newJointLoad(b.desk(j.name), of, shapes, limits, keys))
	}
	return nil
}
