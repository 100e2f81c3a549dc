package slidinglog

import "sync/atomic"

// hint lets an event that is sure to be denied learn so by loads alone. Who denies under the lock
// leaves in it what counted, and the tick at which the first of that leaves. Until then nothing
// leaves, and who changes the log clears the hint, so the same would be found under the lock again.
//
// It is a sequence lock whose writers hold the log's lock: version is odd while until and counted
// are not to be used. A reader that finds the same even version before and after its loads has read
// what one writer left, and that was in force at the second load, where its denial takes effect.
type hint struct {
	version atomic.Uint64
	until   atomic.Int64 // nanoseconds; 0 in a new hint, which is before no tick
	counted atomic.Uint64
}

// denies tells whether the event is sure to be denied. It is right for every tick before until,
// late ones too: at an earlier tick no less counts.
func (h *hint) denies(now int64, cost, limit uint64) bool {
	version := h.version.Load()
	if version&1 != 0 || now >= h.until.Load() {
		return false
	}
	sum := h.counted.Load()
	return h.version.Load() == version && !admits(sum, cost, limit)
}

// leave publishes that sum counts until the tick at which the first run leaves. The caller holds
// the lock.
func (h *hint) leave(until int64, sum uint64) {
	h.clear()
	h.until.Store(until)
	h.counted.Store(sum)
	h.version.Add(1)
}

// clear withdraws the hint before the log changes. The caller holds the lock. It writes only where
// someone was denied since the last change.
func (h *hint) clear() {
	if h.version.Load()&1 == 0 {
		h.version.Add(1)
	}
}
