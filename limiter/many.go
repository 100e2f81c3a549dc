package limiter

import (
	"fmt"

	"github.com/tallyring/tallyring"
)

// batch is how many keys are handed to the table at a time.
const batch = 32

// Prefetch fetches what the decisions on keys will touch, without waiting for it. Call it when the
// keys are known and there is other work to do before they are decided on. It changes nothing.
func (l *Limiter) Prefetch(keys ...Key) {
	if l.table == nil {
		return
	}
	var hashes [batch]uint64
	for len(keys) > 0 {
		n := copyKeys(&hashes, keys)
		l.table.Prefetch(hashes[:n]...)
		keys = keys[n:]
	}
}

// AllowMany decides on one event of each key, all of the same cost at the same tick, in order, and
// stores the answers in allowed. It panics if allowed is shorter than keys. With many keys it is
// faster than as many calls of AllowKey, since it waits for the memory of 32 keys at once.
func (l *Limiter) AllowMany(keys []Key, now tallyring.Tick, cost uint64, allowed []bool) {
	if len(allowed) < len(keys) {
		panic(fmt.Sprintf("limiter: allowed has %d elements, want at least the %d of keys",
			len(allowed), len(keys)))
	}
	if int64(now) > l.horizon.Load() {
		l.ahead(now)
	}
	if l.table == nil || l.hot != nil || l.overridden.Load() {
		l.allowEach(keys, now, cost, allowed)
		return
	}
	var hashes [batch]uint64
	limit := l.limit.Load()
	for len(keys) > 0 {
		n := copyKeys(&hashes, keys)
		l.table.AllowMany(hashes[:n], now, cost, limit, allowed)
		keys, allowed = keys[n:], allowed[n:]
	}
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

// copyKeys copies up to batch keys, and returns how many.
func copyKeys(hashes *[batch]uint64, keys []Key) int {
	n := min(len(keys), batch)
	for i, k := range keys[:n] {
		hashes[i] = uint64(k)
	}
	return n
}
