package limiter

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v3"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// Limiter holds many keys to one limit per window. All methods may be called from any number of
// goroutines. Deciding blocks nobody, except under WithLog; waiting, changing limits, and refunding
// while somebody waits, take a mutex. A Limiter needs no closing, and must not be copied.
type Limiter struct {
	table  *table.Table // nil under WithLog
	exact  *exact       // nil but under WithLog
	hot    *hotKeys     // nil but under WithHotKeys
	clock  tallyring.Clock
	limit  atomic.Uint64
	queues *queues

	overrides  *xsync.MapOf[Key, uint64]
	overridden atomic.Bool // whether overrides ever held anything
	changing   sync.Mutex  // held by who changes limits, that hot keys follow in the same order

	countDenied  bool
	shadow       atomic.Bool
	shadowDenied atomic.Uint64

	length   time.Duration
	horizon  atomic.Int64 // a window after the latest reading of clock by ahead
	tooEarly atomic.Uint64
	maxLimit uint64
	ipv6Mask [2]uint64
}

// New returns a limiter that admits, per key, events of a total cost up to limit in each window. It
// fails if a value is out of range, if options contradict, or if no state of the cells can hold the
// limit for this window; the error says which value is wrong and what would be right. A limit of 0
// denies everything, [tallyring.Unlimited] admits and counts everything; WithBurst needs a rate,
// which is neither.
func New(limit uint64, window time.Duration, opts ...Option) (*Limiter, error) {
	s := defaults()
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	if err := s.validate(limit, window); err != nil {
		return nil, err
	}
	l := &Limiter{
		clock:       s.clock,
		overrides:   xsync.NewMapOf[Key, uint64](),
		countDenied: s.countDenied,
		length:      window,
		ipv6Mask:    prefixMask(s.ipv6PrefixBits),
	}
	l.limit.Store(limit)
	l.shadow.Store(s.shadow)
	l.queues = newQueues(l.clock, l.enforced, l.most)
	l.queues.shared = s.policy == Overflow
	hold := l.holdRings
	switch {
	case s.log:
		hold = l.holdLogs
	case s.bucket:
		hold = l.holdBuckets
	}
	if err := hold(limit, window, s); err != nil {
		return nil, fmt.Errorf("limiter: %w", err)
	}
	return l, nil
}

// holdRings makes the table one of rings.
func (l *Limiter) holdRings(limit uint64, window time.Duration, s settings) (err error) {
	l.table, err = table.New(table.Config{
		Window:   s.window(window),
		MaxLimit: s.largest(limit),
		Keys:     s.keys,
		WhenFull: s.policy,
	})
	if err != nil {
		return err
	}
	l.hot, err = newHotKeys(s.hot, s.window(window), limit, s.largest(limit))
	l.maxLimit = l.hot.maxLimit(l.table.MaxLimit())
	return err
}

// Allow admits one event of key now, or denies it.
func (l *Limiter) Allow(key string) bool { return l.AllowN(key, 1) }

// AllowN admits an event of the given cost now, or denies it. Cost 0 asks without counting.
func (l *Limiter) AllowN(key string, cost uint64) bool {
	return l.allow(l.Key(key), l.clock.Now(), cost)
}

// AllowAt is AllowN at a tick of the caller's.
func (l *Limiter) AllowAt(key string, now tallyring.Tick, cost uint64) bool {
	return l.AllowKey(l.Key(key), now, cost)
}

// AllowKey is AllowAt for a key that is hashed already.
func (l *Limiter) AllowKey(k Key, now tallyring.Tick, cost uint64) bool {
	l.lookAhead(now)
	return l.allow(k, now, cost)
}

func (l *Limiter) allow(k Key, now tallyring.Tick, cost uint64) bool {
	var allowed bool
	if window := l.hot.of(k); window != nil {
		allowed = window.Allow(now, cost)
	} else {
		limit := l.limit.Load()
		if l.overridden.Load() {
			limit = l.limitOf(k)
		}
		if l.table != nil {
			allowed = l.table.Allow(uint64(k), now, cost, limit)
		} else {
			allowed = l.exact.allow(uint64(k), now, cost, limit)
		}
	}
	return allowed || l.denied(k, now, cost)
}

// Take is AllowN with the whole answer.
func (l *Limiter) Take(key string, cost uint64) tallyring.Decision {
	return l.take(l.Key(key), l.clock.Now(), cost)
}

// TakeAt is Take at a tick of the caller's.
func (l *Limiter) TakeAt(key string, now tallyring.Tick, cost uint64) tallyring.Decision {
	return l.TakeKey(l.Key(key), now, cost)
}

// TakeKey is TakeAt for a key that is hashed already.
func (l *Limiter) TakeKey(k Key, now tallyring.Tick, cost uint64) tallyring.Decision {
	l.lookAhead(now)
	return l.take(k, now, cost)
}

func (l *Limiter) take(k Key, now tallyring.Tick, cost uint64) tallyring.Decision {
	d := l.ask(k, now, cost)
	if d.Allowed {
		return d
	}
	if l.countDenied {
		d = l.countDenial(k, now, cost, d)
	}
	if l.passes() {
		pass(&d)
	}
	return d
}

// ask is take without what the options say about denied events.
func (l *Limiter) ask(k Key, now tallyring.Tick, cost uint64) tallyring.Decision {
	if window := l.hot.of(k); window != nil {
		return window.Take(now, cost)
	}
	limit := l.limitOf(k)
	if l.table == nil {
		return l.exact.take(uint64(k), now, cost, limit)
	}
	return l.table.Take(uint64(k), now, cost, limit)
}

// PeekAt returns what key counts at now, with its error, and changes nothing.
func (l *Limiter) PeekAt(key string, now tallyring.Tick) tallyring.Reading {
	return l.PeekKey(l.Key(key), now)
}

// PeekKey is PeekAt for a key that is hashed already.
func (l *Limiter) PeekKey(k Key, now tallyring.Tick) tallyring.Reading {
	if window := l.hot.of(k); window != nil {
		return window.Read(now)
	}
	if l.table == nil {
		return l.exact.logs.Read(uint64(k), now)
	}
	return l.table.Read(uint64(k), now)
}

// RefundAt takes back an event of key that was counted at the tick at, which is Decision.At. It
// takes no more than was counted there, and does nothing once that has left the window, nor for an
// event that passed uncounted. It cannot tell whose events it takes: refund each once. A token
// bucket (WithBurst) remembers no events but a debt: a refund takes from what is owed, down to what
// was owed at that tick, and does nothing from the second span of the bucket on
// (gcra.Bucket.Refund).
func (l *Limiter) RefundAt(key string, at tallyring.Tick, cost uint64) {
	l.RefundKey(l.Key(key), at, cost)
}

// RefundKey is RefundAt for a key that is hashed already.
func (l *Limiter) RefundKey(k Key, at tallyring.Tick, cost uint64) {
	l.refund(k, at, cost)
	l.queues.wake(k)
}

// refund is RefundKey, but tells no queue of it.
func (l *Limiter) refund(k Key, at tallyring.Tick, cost uint64) {
	if at == tallyring.Uncounted {
		return
	}
	if window := l.hot.of(k); window != nil {
		window.Refund(at, cost)
	} else if l.table == nil {
		l.exact.refund(uint64(k), at, cost)
	} else {
		l.table.Refund(uint64(k), at, cost)
	}
}

// lookAhead counts a tick given that is far ahead of the clock.
func (l *Limiter) lookAhead(now tallyring.Tick) {
	if int64(now) > l.horizon.Load() {
		l.ahead(now)
	}
}

// ahead counts now if it is more than one window ahead of the clock. It reads the clock at most
// about once per window as long as ticks come from it; after a clock has been set back, it counts
// again once the clock has caught up.
func (l *Limiter) ahead(now tallyring.Tick) {
	horizon := max(int64(l.clock.Now()), 0)
	horizon += min(int64(l.length), 1<<63-1-horizon)
	l.horizon.Store(horizon)
	if int64(now) > horizon {
		l.tooEarly.Add(1)
	}
}
