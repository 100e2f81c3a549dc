package table

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// A form is a window whose cells take one of the two shapes.
type form struct {
	name   string
	window tallyring.Window
}

// forms lists windows of either shape, and of each number of lines to a cell.
func forms() []form {
	return []form{
		{"packed1", tallyring.Window{Slots: 1, Width: time.Minute}},
		{"packed2", tallyring.Window{Slots: 2, Width: time.Minute}},
		{"packed2strict", tallyring.Window{Slots: 2, Width: time.Second, Strict: true}},
		{"tagged2", tallyring.Window{Slots: 2, Width: time.Microsecond}},
		{"tagged3strict", tallyring.Window{Slots: 3, Width: time.Second, Strict: true}},
		{"tagged7", tallyring.Window{Slots: 7, Width: time.Second}},
		{"tagged8", tallyring.Window{Slots: 8, Width: time.Second}},
		{"tagged61", tallyring.Window{Slots: 61, Width: time.Second}},
	}
}

// eachForm runs a test once for every form.
func eachForm(t *testing.T, test func(t *testing.T, w tallyring.Window)) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) { test(t, f.window) })
	}
}

// ring is the time in which a key expires: n buckets.
func ring(w tallyring.Window) tallyring.Tick {
	return tallyring.Tick(w.Slots) * tallyring.Tick(w.Width)
}

func newTable(t testing.TB, w tallyring.Window, keys int) *Table {
	t.Helper()
	table, err := New(Config{Window: w, Keys: keys})
	require.NoError(t, err)
	return table
}

// cells returns how many cells a table has.
func (t *Table) cells() uint64 { return t.groups * t.groupCells }

// census is what one look at every cell has found.
type census struct {
	homes   map[uint64][]uint64 // the settled cells of each fingerprint
	pending map[uint64][]uint64 // the pending ones
	dead    int
	tickets int // dead or pending cells that were claimed more than once under one index
}

// look counts the cells. A cell that changes while it is looked at is looked at again: a state that
// is the same before and after its fingerprint was read belongs to it, since states never repeat.
func (t *Table) look() census {
	c := census{homes: map[uint64][]uint64{}, pending: map[uint64][]uint64{}}
	for cell := range t.cells() {
		state, key := t.read(cell)
		for t.pair(cell).State.Load() != state || state == tallyring.PairBusy {
			state, key = t.read(cell)
		}
		marked := pending(state)
		if marked && state<<(65-t.states.shift) != 0 {
			c.tickets++
		}
		switch {
		case key == neverUsed:
		case key == deadKey:
			c.dead++
		case marked:
			c.pending[key] = append(c.pending[key], cell)
		default:
			c.homes[key] = append(c.homes[key], cell)
		}
	}
	return c
}

// duplicates returns the fingerprints that have more than one settled cell.
func (c census) duplicates() []uint64 {
	var twice []uint64
	for key, cells := range c.homes {
		if len(cells) > 1 {
			twice = append(twice, key)
		}
	}
	return twice
}

// cellOf returns the one settled cell of key, or false.
func (t *Table) cellOf(key uint64) (uint64, bool) {
	fingerprint, home := t.home(key)
	cell, _, ok := t.find(fingerprint, home)
	return cell, ok
}

// memory returns a copy of every word that decisions may write but for the tally of events.
func (t *Table) memory() []uint64 {
	var words []uint64
	for i := range t.words {
		words = append(words, t.words[i].Load())
	}
	for i := range t.reach {
		words = append(words, uint64(t.reach[i].Load()))
	}
	return words
}
