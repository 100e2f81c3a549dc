package limiter_test

import (
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// model is what a limiter promises, for every kind of window: it remembers each counted event with
// the tick as counted, and every answer is a walk over all of them. It knows no ring, no cell and
// no hash. Its sums are of small numbers and do not saturate.
type model struct {
	kind   kind
	limit  uint64
	limits map[string]uint64 // keys with a limit of their own
	past   map[string][]counted
}

type counted struct {
	at   int64
	cost uint64
}

func newModel(k kind, limit uint64) *model {
	return &model{kind: k, limit: limit,
		limits: map[string]uint64{}, past: map[string][]counted{}}
}

func (m *model) limitOf(key string) uint64 {
	if limit, ok := m.limits[key]; ok {
		return limit
	}
	return m.limit
}

// bucket returns the number of the bucket in which a tick lies. In a log each tick is one.
func (m *model) bucket(tick int64) int64 {
	if m.kind.slots == 0 {
		return tick
	}
	return tick / int64(m.kind.width)
}

// span returns how many buckets the window touches.
func (m *model) span() int64 {
	if m.kind.slots == 0 {
		return int64(window)
	}
	return int64(m.kind.slots)
}

// newest returns the tick of the newest counted event, or -1.
func (m *model) newest(key string) int64 {
	newest := int64(-1)
	for _, e := range m.past[key] {
		newest = max(newest, e.at)
	}
	return newest
}

// place returns the tick at which an event at now is decided and counted: a late one at the begin
// of the newest bucket.
func (m *model) place(key string, now tallyring.Tick) int64 {
	tick, newest := max(int64(now), 0), m.newest(key)
	switch {
	case newest < 0 || m.bucket(newest) <= m.bucket(tick):
		return tick
	case m.kind.slots == 0:
		return newest
	}
	return m.bucket(newest) * int64(m.kind.width)
}

// weigh returns the count without the oldest bucket, that with it, and the estimate times width.
func (m *model) weigh(key string, now tallyring.Tick) (low, high, scaled, width uint64) {
	tick := m.place(key, now)
	bucket := m.bucket(tick)
	width = uint64(max(m.kind.width, 1))
	for _, e := range m.past[key] {
		share := width
		switch age := bucket - m.bucket(e.at); {
		case age < 0 || age >= m.span():
			continue
		case m.kind.slots > 1 && age == m.span()-1:
			if !m.kind.strict {
				share -= uint64(tick) % width
			}
		default:
			low += e.cost
		}
		high += e.cost
		scaled += e.cost * share
	}
	return low, high, scaled, width
}

// admits decides and changes nothing.
func (m *model) admits(key string, now tallyring.Tick, cost uint64) bool {
	limit := m.limitOf(key)
	if limit == tallyring.Unlimited {
		return true
	}
	if limit == 0 || cost > limit {
		return false
	}
	_, _, scaled, width := m.weigh(key, now)
	return scaled+cost*width <= limit*width
}

// allow decides and counts. What can never count again is forgotten.
func (m *model) allow(key string, now tallyring.Tick, cost uint64) bool {
	if !m.admits(key, now, cost) {
		return false
	}
	if cost == 0 {
		return true
	}
	at := m.place(key, now)
	kept := m.past[key][:0]
	for _, e := range m.past[key] {
		if m.bucket(at)-m.bucket(e.at) < m.span() {
			kept = append(kept, e)
		}
	}
	m.past[key] = append(kept, counted{at, cost})
	return true
}

func (m *model) remaining(key string, now tallyring.Tick) uint64 {
	limit := m.limitOf(key)
	if limit == tallyring.Unlimited {
		return limit
	}
	_, _, scaled, width := m.weigh(key, now)
	if scaled > limit*width {
		return 0
	}
	return (limit*width - scaled) / width
}

func (m *model) read(key string, now tallyring.Tick) tallyring.Reading {
	low, high, scaled, width := m.weigh(key, now)
	return tallyring.Reading{Low: low, Estimate: float64(scaled) / float64(width), High: high}
}

func (m *model) empty(key string, now tallyring.Tick) bool {
	_, _, scaled, _ := m.weigh(key, now)
	return scaled == 0
}

// refund takes back from events of the bucket in which at lies, or of exactly that tick in a log.
// Nothing was counted at Uncounted.
func (m *model) refund(key string, at tallyring.Tick, cost uint64) {
	bucket, newest := m.bucket(max(int64(at), 0)), m.newest(key)
	if at == tallyring.Uncounted || newest < 0 || m.bucket(newest)-bucket >= m.span() {
		return
	}
	for i := range m.past[key] {
		if e := &m.past[key][i]; m.bucket(e.at) == bucket {
			back := min(e.cost, cost)
			e.cost -= back
			cost -= back
		}
	}
}

// live tells whether key has counted something that has not left the window at now. A key that is
// not live may lose its cell.
func (m *model) live(key string, now tallyring.Tick) bool {
	newest := m.newest(key)
	return newest >= 0 && m.bucket(max(int64(now), 0))-m.bucket(newest) < m.span()
}

// wrongWait says what is wrong with the waits of a decision that was just taken, if anything is.
func (m *model) wrongWait(
	key string, now tallyring.Tick, cost uint64, d tallyring.Decision,
) string {
	now = max(now, 0)
	after := func(wait time.Duration) tallyring.Tick { return now + tallyring.Tick(wait) }
	switch limit := m.limitOf(key); {
	case d.Allowed && d.RetryAfter != 0:
		return "a wait though it was allowed"
	case d.Allowed:
	case limit == 0 || cost > limit:
		if d.RetryAfter != tallyring.Never {
			return "a finite wait for what can never pass"
		}
	case d.RetryAfter <= 0 || d.RetryAfter > math.MaxInt64/2:
		return "no finite wait though the window will empty"
	case !m.admits(key, after(d.RetryAfter), cost):
		return "still denied after the wait"
	case m.admits(key, after(d.RetryAfter-1), cost):
		return "admitted before the wait is over"
	}
	switch {
	case d.ResetAfter < 0 || !m.empty(key, after(d.ResetAfter)):
		return "not empty after the reset"
	case d.ResetAfter > 0 && m.empty(key, after(d.ResetAfter-1)):
		return "empty before the reset"
	}
	return ""
}
