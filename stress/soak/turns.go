package main

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/pertcore"
	"github.com/tallyring/tallyring/table"
)

const (
	turnLimit = 150_000
	turnSlots = 129
	turnWidth = 16 * time.Millisecond
)

// turns are the loads on windows of very many narrow buckets and a limit that is seldom met: in one
// storm they turn a hundred times while goroutines count, and nothing has left them when it ends.
func (b *builder) turns() error {
	w, limit := tallyring.Window{Slots: turnSlots, Width: turnWidth}, b.scaled(turnLimit)
	r, err := atomicring.NewFor(w, largest(limit))
	if err != nil {
		return err
	}
	b.turn(newWindowLoad(b.desk("turn/tagged"), shapeOf(w), limit, r.Bytes, r))
	added, err := atomicring.New(w)
	if err != nil {
		return err
	}
	b.add(newAddLoad(b.desk("turn/added"), shapeOf(w), added.Bytes, added))
	counter, err := pertcore.NewCounter(w)
	if err != nil {
		return err
	}
	b.add(newAddLoad(b.desk("turn/counter"), shapeOf(w), counter.Bytes, counter))

	w.Strict = true
	l, err := pertcore.NewLimiter(w, limit)
	if err != nil {
		return err
	}
	b.turn(b.spreadLoad("turn/pertcore", w, limit, l))
	keys, err := table.New(table.Config{Window: w, MaxLimit: largest(limit), Keys: 2})
	if err != nil {
		return err
	}
	b.turn(newWindowLoad(b.desk("turn/table"), shapeOf(w), limit, keys.Bytes,
		tableKey{keys, mixed(b.number())}, tableKey{keys, mixed(b.number())}))
	return b.turnLimiter(w, limit)
}

// turn adds a load that no fill brings to its limit.
func (b *builder) turn(l *windowLoad) {
	l.open = true
	b.add(l)
}

// turnLimiter is a key of a limiter, and a hot one.
func (b *builder) turnLimiter(w tallyring.Window, limit uint64) error {
	l, err := limiter.New(limit, w.Length(), limiter.WithResolution(w.Width),
		limiter.WithMaxLimit(largest(limit)), limiter.WithStrictWindow(), limiter.WithKeys(2),
		limiter.WithClock(b.line), limiter.WithHotKeys("service"))
	if err != nil {
		return err
	}
	load := newWindowLoad(b.desk("turn/limiter"), shapeOf(w), limit,
		func() int { return l.Stats().Bytes }, limiterKey{l, "client"}, limiterKey{l, "service"})
	load.tune = l.SetLimit
	b.turn(load)
	return nil
}
