package table

import (
	"fmt"

	"github.com/tallyring/tallyring"
)

// batch is how many keys go through AllowMany together, two batches after which they are decided
// on. A core waits for 10 to 30 lines at once.
const batch = 16

// Prefetch fetches the home lines of keys for writing, without waiting for any. Call it when the
// keys are known and there is other work to do before they are decided on. It changes nothing.
//
// It is not inlined: in another package a call with single keys would put them on the heap, since
// what a generic function keeps is not known there.
//
//go:noinline
func (t *Table) Prefetch(keys ...uint64) { PrefetchOf(t, keys) }

// PrefetchOf is Table.Prefetch for keys of a type of the caller's.
func PrefetchOf[Key ~uint64](t *Table, keys []Key) {
	var space [batch]uint64
	for len(keys) > 0 {
		n := min(len(keys), batch)
		tallyring.PrefetchLines(t.lines, homes(t, space[:0], keys[:n]))
		keys = keys[n:]
	}
}

// homes appends the home lines of keys to lines.
func homes[Key ~uint64](t *Table, lines []uint64, keys []Key) []uint64 {
	for _, key := range keys {
		_, home := t.home(uint64(key))
		lines = append(lines, home*t.groupLines)
	}
	return lines
}

// beside appends the lines beside the home lines of those keys that are not at home.
func beside[Key ~uint64](t *Table, lines []uint64, keys []Key) []uint64 {
	for _, key := range keys {
		key, home := t.home(uint64(key))
		if t.holdsAt(home, key) {
			continue
		}
		if home++; home == t.groups {
			home = 0
		}
		lines = append(lines, home*t.groupLines)
	}
	return lines
}

// holdsAt tells whether a group holds key, settled or not.
func (t *Table) holdsAt(group, key uint64) bool {
	if t.groupCells == 1 {
		return t.pair(group).Key.Load() == key
	}
	quad := &t.quads[group]
	return quad[match(quad, key)&3].Key.Load() == key
}

// AllowMany decides on one event of each key, all of the same cost and limit at the same tick, in
// order, and stores the answers in allowed. It panics if allowed is shorter than keys. It is faster
// than as many calls of Allow where the table is larger than the caches.
func (t *Table) AllowMany(
	keys []uint64, now tallyring.Tick, cost, limit uint64, allowed []bool,
) {
	AllowManyOf(t, keys, now, cost, limit, allowed)
}

// AllowManyOf is Table.AllowMany for keys of a type of the caller's.
func AllowManyOf[Key ~uint64](
	t *Table, keys []Key, now tallyring.Tick, cost, limit uint64, allowed []bool,
) {
	if len(allowed) < len(keys) {
		panic(fmt.Sprintf("table: allowed has %d elements, want at least the %d of keys",
			len(allowed), len(keys)))
	}
	var space [2 * batch]uint64
	var arrived, fetched []Key
	for len(keys) > 0 || len(fetched) > 0 || len(arrived) > 0 {
		next := keys[:min(len(keys), batch)]
		keys = keys[len(next):]
		tallyring.PrefetchLines(t.lines, beside(t, homes(t, space[:0], next), fetched))
		for i, key := range arrived {
			allowed[i] = t.Allow(uint64(key), now, cost, limit)
		}
		allowed = allowed[len(arrived):]
		arrived, fetched = fetched, next
	}
}
