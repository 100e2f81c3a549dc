package atomicring

import (
	"math/big"
	"math/bits"
	"time"

	"github.com/tallyring/tallyring"
)

// model is the contract of a ring, word for word: counts by bucket number, exact integers, no
// modulus, no packing, no concurrency. It is the oracle of the tests and as slow as it likes.
// Ticks are nanoseconds without a sign in it, so that waits may end beyond the last tick.
type model struct {
	window   tallyring.Window
	maxLimit uint64
	counts   map[uint64]uint64 // buckets that may still be in the ring
	newest   uint64
	used     bool // something was counted, ever

	// forgets tells whether the ring has returned to its first state. It is asked after a refund,
	// the only verb that could take a ring there.
	forgets func() bool
}

func newModel(w tallyring.Window, maxLimit uint64) *model {
	return &model{window: w, maxLimit: maxLimit, counts: map[uint64]uint64{},
		forgets: func() bool { return false }}
}

func (m *model) width() uint64     { return uint64(m.window.Width) }
func (m *model) slots() uint64     { return uint64(m.window.Slots) }
func (m *model) saturated() uint64 { return m.maxLimit + 1 }

// nanosOf returns a tick as it counts: a negative one as 0.
func nanosOf(now tallyring.Tick) uint64 { return uint64(max(now, 0)) }

// view returns the bucket, and the time elapsed in it, as of which an event is decided: a late
// one at the start of the newest bucket.
func (m *model) view(nanos uint64) (bucket, elapsed uint64) {
	bucket, elapsed = nanos/m.width(), nanos%m.width()
	if m.used && bucket < m.newest {
		return m.newest, 0
	}
	return bucket, elapsed
}

// sums returns what the full slots and the oldest slot count as of bucket, and whether a count
// among them is saturated.
func (m *model) sums(bucket uint64) (full, oldest uint64, saturated bool) {
	for i, n := range m.counts {
		switch {
		case i+m.slots() <= bucket || i > bucket:
			continue
		case i+m.slots() == bucket+1 && m.slots() > 1:
			oldest = n
		default:
			full += n
		}
		saturated = saturated || n == m.saturated()
	}
	return full, oldest, saturated
}

// weighted returns the estimate times the width.
func (m *model) weighted(nanos uint64) (sum wide, saturated bool) {
	bucket, elapsed := m.view(nanos)
	full, oldest, saturated := m.sums(bucket)
	share := m.width() - elapsed
	if m.window.Strict {
		share = m.width()
	}
	return product(full, m.width()).plus(product(oldest, share)), saturated
}

// wide is an integer of 128 bits. A count is below 2^64 and a width below 2^59, so that no sum of
// a few products overflows.
type wide struct{ high, low uint64 }

func product(a, b uint64) wide {
	high, low := bits.Mul64(a, b)
	return wide{high, low}
}

func (w wide) plus(v wide) wide {
	low, carry := bits.Add64(w.low, v.low, 0)
	return wide{w.high + v.high + carry, low}
}

func (w wide) minus(v wide) wide {
	low, borrow := bits.Sub64(w.low, v.low, 0)
	return wide{w.high - v.high - borrow, low}
}

func (w wide) atMost(v wide) bool {
	return w.high < v.high || w.high == v.high && w.low <= v.low
}

func (w wide) big() *big.Int {
	n := new(big.Int).SetUint64(w.high)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w.low))
}

// effective returns the limit that decides.
func (m *model) effective(limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	return min(limit, m.maxLimit)
}

// admits is rule S2, with S4, S5 and S9.
func (m *model) admits(nanos, cost, limit uint64) bool {
	switch {
	case limit == tallyring.Unlimited:
		return true
	case limit == 0 || cost > m.effective(limit):
		return false
	}
	sum, saturated := m.weighted(nanos)
	sum = sum.plus(product(cost, m.width()))
	return !saturated && sum.atMost(product(m.effective(limit), m.width()))
}

// count puts events into a bucket of the ring, saturating.
func (m *model) count(bucket, count uint64) {
	if !m.used || bucket > m.newest {
		m.newest, m.used = bucket, true
		for i := range m.counts {
			if !m.holds(i) {
				delete(m.counts, i)
			}
		}
	}
	m.counts[bucket] += min(count, m.saturated()-m.counts[bucket])
}

// holds tells whether a bucket is in the ring, or would be once it were counted in.
func (m *model) holds(bucket uint64) bool {
	return !m.used || bucket+m.slots() > m.newest
}

func (m *model) add(now tallyring.Tick, count uint64) bool {
	bucket := nanosOf(now) / m.width()
	if !m.holds(bucket) {
		return false
	}
	if count > 0 {
		m.count(bucket, count)
	}
	return true
}

func (m *model) allow(now tallyring.Tick, cost, limit uint64) bool {
	if !m.admits(nanosOf(now), cost, limit) {
		return false
	}
	if cost > 0 {
		bucket, _ := m.view(nanosOf(now))
		m.count(bucket, cost)
	}
	return true
}

func (m *model) take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	bucket, elapsed := m.view(nanosOf(now))
	d := tallyring.Decision{
		Limit: m.effective(limit),
		At:    tallyring.Tick(bucket*m.width() + elapsed),
	}
	d.Allowed = m.allow(now, cost, limit)
	if !d.Allowed {
		d.RetryAfter = m.retryAfter(nanosOf(now), cost, limit)
	}
	d.Remaining = m.remaining(nanosOf(now), limit)
	d.ResetAfter = m.untilEmpty(nanosOf(now))
	return d
}

// remaining returns the largest cost that passes.
func (m *model) remaining(nanos, limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	sum, saturated := m.weighted(nanos)
	most := product(m.effective(limit), m.width())
	if saturated || !sum.atMost(most) {
		return 0
	}
	room := most.minus(sum)
	quotient, _ := bits.Div64(room.high, room.low, m.width())
	return quotient
}

// retryAfter returns the time to the first nanosecond at which a denied event passes. The
// estimate never rises while nothing is counted, so it halves the span to the point where the
// ring is empty.
func (m *model) retryAfter(nanos, cost, limit uint64) time.Duration {
	if limit == 0 || cost > m.effective(limit) {
		return tallyring.Never
	}
	denied, admitted := nanos, nanos+uint64(m.untilEmpty(nanos))
	for admitted-denied > 1 {
		middle := denied + (admitted-denied)/2
		if m.admits(middle, cost, limit) {
			admitted = middle
		} else {
			denied = middle
		}
	}
	return time.Duration(admitted - nanos)
}

// untilEmpty returns the time until no bucket that counts anything is in the window. The widest
// windows, late at tick 0, are the only waits that a Duration might not hold: it cuts them.
func (m *model) untilEmpty(nanos uint64) time.Duration {
	end := nanos
	for i, n := range m.counts {
		if n > 0 {
			end = max(end, (i+m.slots())*m.width())
		}
	}
	return time.Duration(min(end-nanos, uint64(tallyring.Never)-1))
}

// read returns the bounds, and the estimate as an exact fraction.
func (m *model) read(now tallyring.Tick) (low, high uint64, estimate *big.Rat) {
	bucket, _ := m.view(nanosOf(now))
	full, oldest, _ := m.sums(bucket)
	sum, _ := m.weighted(nanosOf(now))
	return full, full + oldest, new(big.Rat).SetFrac(sum.big(), product(1, m.width()).big())
}

func (m *model) refund(at tallyring.Tick, count uint64) {
	bucket := nanosOf(at) / m.width()
	if m.holds(bucket) && m.counts[bucket] != m.saturated() {
		m.counts[bucket] -= min(count, m.counts[bucket])
	}
	if m.forgets() {
		m.used, m.newest, m.counts = false, 0, map[uint64]uint64{}
	}
}
