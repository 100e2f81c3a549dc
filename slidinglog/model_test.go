package slidinglog

import (
	"math"
	"slices"
	"time"

	"github.com/tallyring/tallyring"
)

// model is the specification of a log, plain and slow: every event ever counted, in a slice, and
// every answer a walk over all of it. It shares no code with the log.
type model struct {
	length int64
	newest int64
	events []modelEvent
}

type modelEvent struct {
	tick  int64
	count uint64
}

func newModel(length time.Duration) *model { return &model{length: int64(length)} }

// tickOf returns the tick as counted of now: not negative, and not before the newest.
func (m *model) tickOf(now tallyring.Tick) int64 {
	tick := int64(now)
	if tick < 0 {
		tick = 0
	}
	if tick < m.newest {
		tick = m.newest
	}
	return tick
}

// countAt returns the sum of the events with t-W < e <= t.
func (m *model) countAt(t int64) uint64 {
	sum := uint64(0)
	for _, e := range m.events {
		if t-m.length < e.tick && e.tick <= t {
			sum = modelSum(sum, e.count)
		}
	}
	return sum
}

func modelSum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func (m *model) passes(t int64, cost, limit uint64) bool {
	if limit == 0 || cost > limit {
		return false
	}
	return limit == tallyring.Unlimited || m.countAt(t) <= limit-cost
}

func (m *model) count(tick int64, count uint64) {
	if count == 0 {
		return
	}
	m.events = append(m.events, modelEvent{tick, count})
	m.newest = max(m.newest, tick)
}

func (m *model) take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	t := m.tickOf(now)
	d := tallyring.Decision{Limit: limit, At: tallyring.Tick(t), Allowed: m.passes(t, cost, limit)}
	if d.Allowed {
		m.count(t, cost)
	}
	if limit == tallyring.Unlimited {
		d.Remaining = tallyring.Unlimited
	} else if sum := m.countAt(t); sum < limit {
		d.Remaining = limit - sum
	}
	from := max(int64(now), 0)
	if !d.Allowed {
		d.RetryAfter = m.firstAfter(t, from, func(u int64) bool { return m.passes(u, cost, limit) })
	}
	if m.countAt(t) > 0 {
		d.ResetAfter = m.firstAfter(t, from, func(u int64) bool { return m.countAt(u) == 0 })
	}
	return d
}

// firstAfter returns the distance from `from` to the first tick after t at which holds is true.
// Without other traffic the count changes only where an event leaves, so only those are tried.
func (m *model) firstAfter(t, from int64, holds func(int64) bool) time.Duration {
	var leaving []int64
	for _, e := range m.events {
		if e.tick <= math.MaxInt64-m.length && e.tick+m.length > t {
			leaving = append(leaving, e.tick+m.length)
		}
	}
	slices.Sort(leaving)
	for _, u := range leaving {
		if holds(u) {
			return time.Duration(u - from)
		}
	}
	return tallyring.Never
}

func (m *model) add(now tallyring.Tick, count uint64) bool {
	tick := max(int64(now), 0)
	if tick <= m.newest-m.length {
		return false
	}
	m.count(tick, count)
	return true
}

func (m *model) refund(at tallyring.Tick, count uint64) {
	tick := max(int64(at), 0)
	held := uint64(0)
	for _, e := range m.events {
		if e.tick == tick {
			held = modelSum(held, e.count)
		}
	}
	if held == math.MaxUint64 {
		return
	}
	for i := range m.events {
		if m.events[i].tick == tick {
			back := min(m.events[i].count, count)
			m.events[i].count -= back
			count -= back
		}
	}
}

func (m *model) read(now tallyring.Tick) tallyring.Reading {
	n := m.countAt(m.tickOf(now))
	return tallyring.Reading{Low: n, Estimate: float64(n), High: n}
}
