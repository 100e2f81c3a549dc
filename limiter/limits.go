package limiter

import (
	"fmt"

	"github.com/tallyring/tallyring"
)

// Limit returns the limit of every key that has none of its own.
func (l *Limiter) Limit() uint64 { return l.limit.Load() }

// MaxLimit returns the largest limit that SetLimit and SetKeyLimit take, beside
// [tallyring.Unlimited].
func (l *Limiter) MaxLimit() uint64 { return l.maxLimit }

// SetLimit changes the limit of every key that has none of its own. It acts on the next decision
// and changes no count: raising it makes room at once, lowering it denies until enough has left the
// window, and the same limit again changes nothing. It fails if the cells cannot hold the limit.
func (l *Limiter) SetLimit(limit uint64) error {
	if err := l.holds(limit); err != nil {
		return err
	}
	l.changing.Lock()
	l.limit.Store(limit)
	err := l.hot.setLimit(limit)
	l.changing.Unlock()
	l.queues.wakeAll()
	return err
}

// SetKeyLimit gives one key a limit of its own, until ClearKeyLimit. It is for the operator: it
// takes memory for each such key until it is cleared, however long the key is idle, and makes each
// decision of the limiter look for such limits from then on.
func (l *Limiter) SetKeyLimit(k Key, limit uint64) error {
	if err := l.holds(limit); err != nil {
		return err
	}
	l.changing.Lock()
	l.overrides.Store(k, limit)
	l.overridden.Store(true)
	err := l.hot.setKeyLimit(k, limit, true)
	l.changing.Unlock()
	l.queues.wake(k)
	return err
}

// ClearKeyLimit gives the key the common limit again.
func (l *Limiter) ClearKeyLimit(k Key) {
	l.changing.Lock()
	l.overrides.Delete(k)
	// The common limit was held when it was set, so this can not fail.
	_ = l.hot.setKeyLimit(k, l.limit.Load(), false)
	l.changing.Unlock()
	l.queues.wake(k)
}

func (l *Limiter) holds(limit uint64) error {
	if limit > l.maxLimit && limit != tallyring.Unlimited {
		return fmt.Errorf("limiter: limit %d is above %d, the most that the cells hold, "+
			"want at most that, or New with WithMaxLimit", limit, l.maxLimit)
	}
	return nil
}

// limitOf returns the limit of a key.
func (l *Limiter) limitOf(k Key) uint64 {
	if l.overridden.Load() {
		if limit, ok := l.overrides.Load(k); ok {
			return limit
		}
	}
	return l.limit.Load()
}
