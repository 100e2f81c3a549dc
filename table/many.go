package table

import (
	"fmt"

	"github.com/tallyring/tallyring"
)

// batch is how many lines are fetched at a time: more than a core can wait for at once (10 to 30),
// and few enough to stay in its first-level cache.
const batch = 32

// Prefetch fetches the home lines of keys for writing, without waiting for any. Call it when the
// keys are known and there is other work to do before they are decided on. It changes nothing.
func (t *Table) Prefetch(keys ...uint64) {
	var lines [batch]uint64
	for len(keys) > 0 {
		n := min(len(keys), batch)
		for i, key := range keys[:n] {
			_, home := t.home(key)
			lines[i] = home * t.groupLines
		}
		tallyring.PrefetchLines(t.lines, lines[:n])
		keys = keys[n:]
	}
}

// AllowMany decides on one event of each key, all of the same cost and limit at the same tick, in
// order, and stores the answers in allowed. It panics if allowed is shorter than keys. It is faster
// than as many calls of Allow where the table is larger than the caches.
func (t *Table) AllowMany(
	keys []uint64, now tallyring.Tick, cost, limit uint64, allowed []bool,
) {
	if len(allowed) < len(keys) {
		panic(fmt.Sprintf("table: allowed has %d elements, want at least the %d of keys",
			len(allowed), len(keys)))
	}
	for len(keys) > 0 {
		n := min(len(keys), batch)
		t.Prefetch(keys[:n]...)
		for i, key := range keys[:n] {
			allowed[i] = t.Allow(key, now, cost, limit)
		}
		keys, allowed = keys[n:], allowed[n:]
	}
}
