package exphist

import (
	"math"
	"slices"
	"time"

	"github.com/tallyring/tallyring"
)

// model is the specification of a histogram, plain and slow: the buckets in one slice, oldest
// first, each with its size; every event put in alone; every answer a walk over all of it. Beside
// them it keeps every event, for the true count. It takes the form, slots and holds, from the
// histogram whose model it is, and shares no other code with it.
type model struct {
	span, newest int64
	slots        int
	most, holds  uint64
	byEstimate   bool
	buckets      []modelBucket
	overs        []int64 // places at which something did not fit
	events       []modelEvent
}

type modelBucket struct {
	end  int64
	size uint64
}

type modelEvent struct {
	place  int64
	weight uint64
}

func newModel(s shape) *model {
	return &model{
		span: s.span, slots: s.slots, most: s.most, holds: s.holds, byEstimate: s.byEstimate,
	}
}

// inWindow tells whether what lies at e counts at t.
func (m *model) inWindow(e, t int64) bool { return t-m.span < e && e <= t }

// trueAt returns the sum of the events in the window that ends at t.
func (m *model) trueAt(t int64) uint64 {
	sum := uint64(0)
	for _, e := range m.events {
		if m.inWindow(e.place, t) {
			if sum > math.MaxUint64-e.weight {
				return math.MaxUint64
			}
			sum += e.weight
		}
	}
	return sum
}

func (m *model) read(now int64) tallyring.Reading {
	t := max(now, m.newest)
	r, oldest := tallyring.Reading{}, uint64(0)
	for _, b := range m.buckets {
		if m.inWindow(b.end, t) {
			r.High += b.size
			oldest = max(oldest, b.size)
		}
	}
	if oldest > 0 {
		r.Low = r.High - oldest + 1
	}
	r.Estimate = (float64(r.Low) + float64(r.High)) / 2
	for _, over := range m.overs {
		if m.inWindow(over, t) {
			r.High, r.Estimate = math.MaxUint64, math.MaxUint64
		}
	}
	return r
}

// weighAt returns what decisions take for the count.
func (m *model) weighAt(t int64) uint64 {
	r := m.read(t)
	if m.byEstimate && r.High != math.MaxUint64 {
		return uint64(math.Ceil(r.Estimate))
	}
	return r.High
}

func (m *model) clamp(limit uint64) uint64 {
	if limit != tallyring.Unlimited && limit > m.most {
		return m.most
	}
	return limit
}

func (m *model) passes(t int64, cost, limit uint64) bool {
	if limit == 0 || cost > limit {
		return false
	}
	return limit == tallyring.Unlimited || m.weighAt(t) <= limit-cost
}

// count counts weight at now, one by one.
func (m *model) count(now int64, weight uint64) {
	if weight == 0 {
		return
	}
	t := max(now, m.newest)
	m.newest = t
	m.events = append(m.events, modelEvent{t, weight})
	m.buckets = slices.DeleteFunc(m.buckets, func(b modelBucket) bool {
		return !m.inWindow(b.end, t)
	})
	held := uint64(0)
	for _, b := range m.buckets {
		held += b.size
	}
	for ; weight > 0; weight-- {
		if held == m.holds {
			m.overs = append(m.overs, t)
			return
		}
		held++
		m.buckets = append(m.buckets, modelBucket{t, 1})
		m.merge()
	}
}

// merge merges the two oldest of a size while there are too many of it, from the smallest size on.
func (m *model) merge() {
	for size := uint64(1); ; size *= 2 {
		first := slices.IndexFunc(m.buckets, func(b modelBucket) bool { return b.size == size })
		alike := 0
		for _, b := range m.buckets {
			if b.size == size {
				alike++
			}
		}
		if alike <= m.slots {
			return
		}
		m.buckets[first+1].size = 2 * size
		m.buckets = slices.Delete(m.buckets, first, first+1)
	}
}

func (m *model) take(now int64, cost, limit uint64) tallyring.Decision {
	now = max(now, 0)
	t := max(now, m.newest)
	limit = m.clamp(limit)
	d := tallyring.Decision{Limit: limit, At: tallyring.Tick(t), Allowed: m.passes(t, cost, limit)}
	if d.Allowed {
		m.count(t, cost)
	}
	if limit == tallyring.Unlimited {
		d.Remaining = tallyring.Unlimited
	} else if weight := m.weighAt(t); weight < limit {
		d.Remaining = limit - weight
	}
	if !d.Allowed {
		d.RetryAfter = m.firstAfter(t, now, func(u int64) bool { return m.passes(u, cost, limit) })
	}
	if m.weighAt(t) > 0 {
		d.ResetAfter = m.firstAfter(t, now, func(u int64) bool { return m.weighAt(u) == 0 })
	}
	return d
}

// firstAfter returns the distance from `from` to the first place after t at which holds is true.
// With no other events a count changes only where a bucket or what did not fit leaves.
func (m *model) firstAfter(t, from int64, holds func(int64) bool) time.Duration {
	ends := slices.Clone(m.overs)
	for _, b := range m.buckets {
		ends = append(ends, b.end)
	}
	slices.Sort(ends)
	for _, end := range ends {
		if end <= math.MaxInt64-m.span && end+m.span > t && holds(end+m.span) {
			return time.Duration(end + m.span - from)
		}
	}
	return tallyring.Never
}
