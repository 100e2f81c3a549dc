package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// earlyTaker counts every event at the begin of its bucket, and says so.
type earlyTaker struct {
	shape
	window
}

func (e earlyTaker) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	d := e.window.Take(now, cost, limit)
	d.At = e.start(d.At)
	return d
}

// Goal: a trailing window that holds more than the limit is seen, wherever it lies. Method: windows
// that promise less are taken for strict ones: a fixed ring can be driven to twice its limit around
// a boundary, and so can one that interpolates. And an answer that names an earlier tick.
func TestFaultsOfTrailingWindowsAreSeen(t *testing.T) {
	const width = 4 * time.Millisecond
	part := func(w tallyring.Window, lies bool) func(*builder) error {
		return func(b *builder) error {
			r, err := atomicring.New(w)
			var of window = r
			s := shapeOf(w)
			if lies {
				of = earlyTaker{s, r}
			}
			load := newTrailLoad(
				b.desk("ring"), s, tallyring.Tick(width), trailLimit, noMemory, of)
			load.slots = 2 // what the load makes of it; the account takes it as it is
			b.add(load)
			return err
		}
	}
	strict := tallyring.Window{Slots: 2, Width: width, Strict: true}
	right := soakOf(t, part(strict, false))
	require.NoError(t, right.survive(rightRounds))
	require.Greater(t, right.sums().turns, uint64(10))
	for _, w := range []tallyring.Window{{Slots: 1, Width: width}, {Slots: 2, Width: width}} {
		require.Regexp(t, `^ring: \d+ events were counted from \d+ to \d+, want at most 24`,
			soakOf(t, part(w, false)).survive(faultRounds))
	}
	require.Regexp(t, `^ring: event at \d+ was counted at \d+, want \d+ to \d+`,
		soakOf(t, part(strict, true)).survive(faultRounds))
}

// Goal: of a fixed window no bucket may hold more. Method: one that denies late.
func TestFaultsOfFixedWindowsAreSeen(t *testing.T) {
	s := shape{whole, int64(5 * time.Millisecond), 1}
	run := soakOf(t, func(b *builder) error {
		b.add(newTrailLoad(b.desk("plain"), s, tallyring.Tick(s.widthNanos), trailLimit, noMemory,
			newPlainWindow(s, "admits one too many")))
		return nil
	})
	require.Regexp(t, `^plain: 25 events were counted`, run.survive(faultRounds))
}
