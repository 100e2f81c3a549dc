package limiter

import (
	"fmt"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// batch is how many keys are fetched at a time where each takes its own way.
const batch = 32

// Prefetch fetches what the decisions on keys will touch, without waiting for it. Call it when the
// keys are known and there is other work to do before they are decided on. It changes nothing.
//
// Inlined into another package, a call with single keys would put them on the heap: what a generic
// function keeps is not known there.
//
//go:noinline
func (l *Limiter) Prefetch(keys ...Key) {
	if l.table != nil {
		table.PrefetchOf(l.table, keys)
	}
}

// AllowMany decides on one event of each key, all of the same cost at the same tick, in order, and
// stores the answers in allowed. It panics if allowed is shorter than keys. With many keys it is
// faster than as many calls of AllowKey, since it waits for the memory of many keys at once.
func (l *Limiter) AllowMany(keys []Key, now tallyring.Tick, cost uint64, allowed []bool) {
	if len(allowed) < len(keys) {
		panic(fmt.Sprintf("limiter: allowed has %d elements, want at least the %d of keys",
			len(allowed), len(keys)))
	}
	l.lookAhead(now)
	if l.table == nil || l.hot != nil || l.overridden.Load() || l.countDenied || l.shadow.Load() {
		l.allowEach(keys, now, cost, allowed)
		return
	}
	table.AllowManyOf(l.table, keys, now, cost, l.limit.Load(), allowed)
}

// allowEach is AllowMany where keys may have limits of their own, or logs.
func (l *Limiter) allowEach(keys []Key, now tallyring.Tick, cost uint64, allowed []bool) {
	for i, k := range keys {
		if i%batch == 0 {
			l.Prefetch(keys[i:min(i+batch, len(keys))]...)
		}
		allowed[i] = l.allow(k, now, cost)
	}
}
