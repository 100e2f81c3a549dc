package main

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/pertcore"
	"github.com/tallyring/tallyring/slidinglog"
	"github.com/tallyring/tallyring/table"
)

// trailLimit is the limit of all loads on narrow buckets.
const trailLimit = 24

// trails are the loads on narrow buckets: of each structure a strict window, and a fixed ring.
func (b *builder) trails() error {
	for _, t := range []struct {
		name string
		w    tallyring.Window
		of   func(w tallyring.Window) (window, func() int, error)
	}{
		{"trail/packed", strictOf(2, 4*time.Millisecond), ringTrail},
		{"trail/tagged", strictOf(7, 2*time.Millisecond), ringTrail},
		{"trail/fixed", tallyring.Window{Slots: 1, Width: 5 * time.Millisecond}, ringTrail},
		{"trail/pertcore", strictOf(4, 3*time.Millisecond), spreadTrail},
		{"trail/pertcore fixed",
			tallyring.Window{Slots: 1, Width: 5 * time.Millisecond}, spreadTrail},
		{"trail/table", strictOf(2, 5*time.Millisecond), b.tableTrail},
		{"trail/table wide", strictOf(5, 3*time.Millisecond), b.tableTrail},
		{"trail/limiter", strictOf(3, 4*time.Millisecond), b.limiterTrail},
	} {
		of, memory, err := t.of(t.w)
		if err != nil {
			return err
		}
		b.add(newTrailLoad(b.desk(t.name), shapeOf(t.w), tallyring.Tick(t.w.Length()), trailLimit,
			memory, of))
	}
	const length = 10 * time.Millisecond
	log, err := slidinglog.New(length)
	if err != nil {
		return err
	}
	b.add(newTrailLoad(b.desk("trail/log"), logOf(int64(length), 5), tallyring.Tick(length),
		trailLimit, func() int { return 2 * 16 * trailLimit }, log))
	return nil
}

func strictOf(slots int, width time.Duration) tallyring.Window {
	return tallyring.Window{Slots: slots, Width: width, Strict: true}
}

func ringTrail(w tallyring.Window) (window, func() int, error) {
	r, err := atomicring.New(w)
	if err != nil {
		return nil, nil, err
	}
	return r, r.Bytes, nil
}

func spreadTrail(w tallyring.Window) (window, func() int, error) {
	l, err := pertcore.NewLimiter(w, trailLimit)
	if err != nil {
		return nil, nil, err
	}
	return spread{l}, l.Bytes, nil
}

func (b *builder) tableTrail(w tallyring.Window) (window, func() int, error) {
	t, err := table.New(table.Config{Window: w, Keys: 1})
	if err != nil {
		return nil, nil, err
	}
	return tableKey{t, mixed(b.number())}, t.Bytes, nil
}

func (b *builder) limiterTrail(w tallyring.Window) (window, func() int, error) {
	l, err := limiter.New(trailLimit, w.Length(), limiter.WithResolution(w.Width),
		limiter.WithStrictWindow(), limiter.WithKeys(1), limiter.WithClock(b.line),
		limiter.WithHotKeys("service"))
	if err != nil {
		return nil, nil, err
	}
	return limiterKey{l, "client"}, func() int { return l.Stats().Bytes }, nil
}
