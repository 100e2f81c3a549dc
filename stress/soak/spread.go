package main

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/pertcore"
)

// spread is a pertcore.Limiter as a window. Its limit is its own, so the one of a verb is ignored.
type spread struct {
	*pertcore.Limiter
}

func (s spread) Allow(now tallyring.Tick, cost, _ uint64) bool { return s.Limiter.Allow(now, cost) }

func (s spread) Take(now tallyring.Tick, cost, _ uint64) tallyring.Decision {
	return s.Limiter.Take(now, cost)
}

// spreads are the loads on windows that are spread over the processors: a counter, a limiter far
// from its limit, which works in shares, and a strict one with too small a limit for shares.
func (b *builder) spreads() error {
	w := tallyring.Window{Slots: 4, Width: 300 * time.Millisecond}
	c, err := pertcore.NewCounter(w)
	if err != nil {
		return err
	}
	b.add(newAddLoad(b.desk("pertcore/counter"), shapeOf(w), c.Bytes, c))
	for _, limiter := range []struct {
		name  string
		w     tallyring.Window
		limit uint64
	}{
		{"pertcore/limiter", tallyring.Window{Slots: 3, Width: 400 * time.Millisecond},
			b.scaled(60_000)},
		{"pertcore/strict",
			tallyring.Window{Slots: 4, Width: 250 * time.Millisecond, Strict: true}, 40},
	} {
		l, err := pertcore.NewLimiter(limiter.w, limiter.limit)
		if err != nil {
			return err
		}
		load := b.spreadLoad(limiter.name, limiter.w, limiter.limit, l)
		b.add(load)
	}
	return nil
}

// spreadLoad makes a load on a limiter that is spread, and changes its limit.
func (b *builder) spreadLoad(
	name string, w tallyring.Window, limit uint64, l *pertcore.Limiter,
) *windowLoad {
	load := newWindowLoad(b.desk(name), shapeOf(w), limit, l.Bytes, spread{l})
	load.tune = func(limit uint64) error {
		load.evidence.generations++ // SetLimit returns when the one that it found has ended
		return l.SetLimit(limit)
	}
	return load
}
