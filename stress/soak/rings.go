package main

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// rings are the loads on single rings: in one word, in several, strict, fixed, without a limit, and
// counting alone.
func (b *builder) rings() error {
	for _, ring := range []struct {
		name  string
		w     tallyring.Window
		limit uint64
	}{
		{"ring/packed", tallyring.Window{Slots: 2, Width: 500 * time.Millisecond}, 30_000},
		{"ring/packed strict",
			tallyring.Window{Slots: 2, Width: 700 * time.Millisecond, Strict: true}, 20_000},
		{"ring/fixed", tallyring.Window{Slots: 1, Width: time.Second}, 25_000},
		{"ring/tagged", tallyring.Window{Slots: 7, Width: 250 * time.Millisecond}, 40_000},
		{"ring/tagged strict",
			tallyring.Window{Slots: 7, Width: 200 * time.Millisecond, Strict: true}, 5_000},
		{"ring/unlimited",
			tallyring.Window{Slots: 3, Width: 300 * time.Millisecond}, tallyring.Unlimited},
	} {
		limit := b.scaled(ring.limit)
		r, err := atomicring.NewFor(ring.w, largest(limit))
		if err != nil {
			return err
		}
		b.add(newWindowLoad(b.desk(ring.name), shapeOf(ring.w), limit, r.Bytes, r))
	}
	w := tallyring.Window{Slots: 9, Width: 150 * time.Millisecond}
	r, err := atomicring.New(w)
	if err != nil {
		return err
	}
	b.add(newAddLoad(b.desk("ring/added"), shapeOf(w), r.Bytes, r))
	return nil
}

// largest returns the largest limit that a structure with this usual one must hold.
func largest(usual uint64) uint64 {
	if usual == tallyring.Unlimited {
		return usual
	}
	return 2 * usual
}
