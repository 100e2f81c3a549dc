package linear

import (
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// The sequential model: one window of one key, written from the S-rules of DESIGN.md. Counts and
// ticks of the tests are so small that plain 64-bit products hold them.

const mostSlots = 8

// ring is a state of the model. States are compared with ==.
type ring struct {
	used   bool  // something was counted since the key is there
	newest int64 // S7; of a ring that is not used, the bucket before which nothing may begin

	counts [mostSlots]uint64 // of bucket newest-i
}

// model is what does not change.
type model struct {
	window tallyring.Window
}

// view is a ring as of one bucket.
type view struct {
	bucket, elapsed int64
	full, oldest    uint64
}

func (m *model) width() int64 { return int64(m.window.Width) }

func (m *model) bucketOf(tick tallyring.Tick) int64 { return int64(max(tick, 0)) / m.width() }

// count returns what bucket holds.
func (r ring) count(bucket int64) uint64 {
	if age := r.newest - bucket; 0 <= age && age < mostSlots {
		return r.counts[age]
	}
	return 0
}

// view weighs r at a tick (S1), or in the newest bucket with nothing of it elapsed where the tick
// is late (S7).
func (m *model) view(r ring, tick tallyring.Tick) view {
	v := view{bucket: m.bucketOf(tick), elapsed: int64(max(tick, 0)) % m.width()}
	if v.bucket < r.newest {
		v.bucket, v.elapsed = r.newest, 0
	}
	slots := int64(m.window.Slots)
	for age := range slots {
		if slots > 1 && age == slots-1 {
			v.oldest = r.count(v.bucket - age)
		} else {
			v.full += r.count(v.bucket - age)
		}
	}
	return v
}

// weight returns the estimate of v times the width.
func (m *model) weight(v view) uint64 {
	left := uint64(m.width())
	if !m.window.Strict {
		left -= uint64(v.elapsed)
	}
	return v.full*uint64(m.width()) + v.oldest*left
}

// fits is S2, with the limits 0 and Unlimited of S5, and with Never of S4.
func (m *model) fits(v view, cost, limit uint64) bool {
	if limit == tallyring.Unlimited {
		return true
	}
	width := uint64(m.width())
	return limit > 0 && cost <= limit && m.weight(v)+cost*width <= limit*width
}

// moved returns r with bucket as the newest, unless a newer one is.
func (m *model) moved(r ring, bucket int64) ring {
	next := ring{used: true, newest: max(bucket, r.newest)}
	for age := range m.window.Slots {
		next.counts[age] = r.count(next.newest - int64(age))
	}
	return next
}

// allow decides as of the tick, and counts in the newest bucket (S3, S7).
func (m *model) allow(r ring, tick tallyring.Tick, cost, limit uint64) (ring, bool) {
	v := m.view(r, tick)
	if !m.fits(v, cost, limit) {
		return r, false
	}
	if cost == 0 {
		return r, true
	}
	r = m.moved(r, v.bucket)
	r.counts[0] += cost
	return r, true
}

// add counts in the tick's own bucket if that is still in the ring (S7).
func (m *model) add(r ring, tick tallyring.Tick, count uint64) (ring, bool) {
	bucket := m.bucketOf(tick)
	if r.newest-bucket >= int64(m.window.Slots) {
		return r, false
	}
	if count == 0 {
		return r, true
	}
	r = m.moved(r, bucket)
	r.counts[r.newest-bucket] += count
	return r, true
}

// refund takes back from the bucket of the tick, never below 0 (S16).
func (m *model) refund(r ring, at tallyring.Tick, count uint64) ring {
	age := r.newest - m.bucketOf(at)
	if r.used && 0 <= age && age < int64(m.window.Slots) {
		r.counts[age] -= min(r.counts[age], count)
	}
	return r
}

// read is S14.
func (m *model) read(r ring, tick tallyring.Tick) tallyring.Reading {
	v := m.view(r, tick)
	return tallyring.Reading{
		Low:      v.full,
		Estimate: float64(m.weight(v)) / float64(m.width()),
		High:     v.full + v.oldest,
	}
}

// take is allow with the rest of the answer, found by trying (S15).
func (m *model) take(
	r ring, tick tallyring.Tick, cost, limit uint64,
) (ring, tallyring.Decision) {
	v := m.view(r, tick)
	at := max(tick, tallyring.Tick(v.bucket*m.width()))
	if !r.used && (cost == 0 || cost > limit || limit == 0) {
		at = max(tick, 0) // nothing is there that it could be late for, nor comes to be
	}
	next, allowed := m.allow(r, tick, cost, limit)
	d := tallyring.Decision{Allowed: allowed, Limit: limit, At: at, Remaining: limit}
	if limit != tallyring.Unlimited {
		width := uint64(m.width())
		counted := (m.weight(m.view(next, tick)) + width - 1) / width
		d.Remaining -= min(limit, counted)
	}
	switch {
	case allowed:
	case cost > limit || limit == 0:
		d.RetryAfter = tallyring.Never
	default:
		d.RetryAfter = m.first(r, tick, func(v view) bool { return m.fits(v, cost, limit) })
	}
	d.ResetAfter = m.first(next, tick, func(v view) bool { return m.weight(v) == 0 })
	return next, d
}

// first returns the least wait after which r is such as is asked for, if nothing else comes. Once
// it is such it stays so, since the weight of a ring that rests only falls.
func (m *model) first(r ring, tick tallyring.Tick, such func(view) bool) time.Duration {
	least, most := int64(0), (r.newest+int64(m.window.Slots))*m.width()-int64(max(tick, 0))
	if most <= 0 || such(m.view(r, tick)) {
		return 0
	}
	for least < most {
		middle := (least + most) / 2
		if such(m.view(r, max(tick, 0)+tallyring.Tick(middle))) {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return time.Duration(least)
}

// turns returns what r can be while an event is under way that is not counted yet: as it was, or
// moved on to the next bucket or to the event's. Only an event that would be admitted moves it
// (S3), unless eager says that it may have been admissible a moment ago. With cellsOnly an event
// does no more than make the key's cell before it is counted.
func (m *model) turns(r ring, in input, eager, cellsOnly bool) []ring {
	states := []ring{r}
	bucket := m.bucketOf(in.tick)
	switch {
	case in.cost == 0 || r.used && (bucket <= r.newest || cellsOnly):
		return states
	case in.event == addVerb, eager && in.cost <= in.limit && in.limit > 0:
	case !m.fits(m.view(r, in.tick), in.cost, in.limit):
		return states
	}
	if r.used && bucket > r.newest+1 {
		states = append(states, m.moved(r, r.newest+1))
	}
	return append(states, m.moved(r, bucket))
}

// evicted returns what r can be when another key has taken cells over as of a tick: as it was or,
// if it counts nothing any more, not there, with nothing before the bucket in which its last count
// left (S18).
func (m *model) evicted(r ring, tick tallyring.Tick) []ring {
	left := r.newest + int64(m.window.Slots)
	if !r.used || m.bucketOf(tick) < left {
		return []ring{r}
	}
	return []ring{r, {newest: left}}
}

// near tells whether two estimates are equal but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b) }
