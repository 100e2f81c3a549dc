package limiter

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/slidinglog"
)

// exact is the state of a limiter with a log per key, and its policy for keys that find no place.
type exact struct {
	logs     *slidinglog.Keyed
	overflow *slidinglog.Log // nil unless the policy is Overflow
	policy   FullPolicy
}

// holdLogs gives each key a log.
func (l *Limiter) holdLogs(_ uint64, window time.Duration, s settings) error {
	logs, err := slidinglog.NewKeyed(window, s.keys)
	if err != nil {
		return err
	}
	l.exact, err = newExact(logs, s.policy)
	l.maxLimit = tallyring.Unlimited
	return err
}

func newExact(logs *slidinglog.Keyed, policy FullPolicy) (*exact, error) {
	e := &exact{logs: logs, policy: policy}
	if policy != Overflow {
		return e, nil
	}
	var err error
	e.overflow, err = slidinglog.New(logs.Length())
	return e, err
}

func (e *exact) allow(key uint64, now tallyring.Tick, cost, limit uint64) bool {
	allowed, placed := e.logs.Allow(key, now, cost, limit)
	switch {
	case placed:
		return allowed
	case e.overflow != nil:
		return e.overflow.Allow(now, cost, limit)
	}
	return e.policy == Allow
}

func (e *exact) take(key uint64, now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	d, placed := e.logs.Take(key, now, cost, limit)
	switch {
	case placed || e.policy == Deny:
		return d
	case e.overflow != nil:
		return e.overflow.Take(now, cost, limit)
	}
	return tallyring.Decision{
		Allowed: true, Limit: limit, Remaining: limit, At: tallyring.Uncounted,
	}
}

// refund takes back from the shared log as well, where there is one: an event of a key without a
// log was counted there, if at all, and that of another key was not at exactly this tick but by
// chance.
func (e *exact) refund(key uint64, at tallyring.Tick, cost uint64) {
	if e.overflow != nil && e.logs.Read(key, at).High == 0 {
		e.overflow.Refund(at, cost)
		return
	}
	e.logs.Refund(key, at, cost)
}
