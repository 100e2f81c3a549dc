package pertcore

import (
	"math/bits"
	"time"

	"github.com/tallyring/tallyring"
)

// model is the contract of a limiter without shards, generations or concurrency: counts by bucket
// number. It is the oracle of the tests and as slow as it likes.
type model struct {
	window tallyring.Window
	limit  uint64
	most   uint64 // a saturated count
	counts map[int64]uint64
	newest int64
	used   bool
}

// view returns the bucket and the time elapsed in it as of which an event at now is decided.
func (m *model) view(now tallyring.Tick) (bucket, elapsed int64) {
	now = max(now, 0)
	bucket, elapsed = int64(now)/int64(m.window.Width), int64(now)%int64(m.window.Width)
	if m.used && bucket < m.newest {
		return m.newest, 0
	}
	return bucket, elapsed
}

func (m *model) read(now tallyring.Tick) (low, high uint64) {
	bucket, _ := m.view(now)
	slots := int64(m.window.Slots)
	for i, n := range m.counts {
		switch age := bucket - i; {
		case age < 0 || age >= slots:
		case age == slots-1 && slots > 1:
			high += n
		default:
			low, high = low+n, high+n
		}
	}
	return low, high
}

func (m *model) saturated(now tallyring.Tick) bool {
	bucket, _ := m.view(now)
	for i, n := range m.counts {
		if n == m.most && i <= bucket && bucket-i < int64(m.window.Slots) {
			return true
		}
	}
	return false
}

// admits is rule S2: full*b + oldest*(b-elapsed) + cost*b <= limit*b.
func (m *model) admits(now tallyring.Tick, cost uint64) bool {
	if m.limit == tallyring.Unlimited {
		return true
	}
	if m.limit == 0 || cost > m.limit || m.saturated(now) {
		return false
	}
	low, high := m.read(now)
	if low+cost > m.limit {
		return false
	}
	_, elapsed := m.view(now)
	width := uint64(m.window.Width)
	share := width - uint64(elapsed)
	if m.window.Strict {
		share = width
	}
	needHigh, needLow := bits.Mul64(high-low, share)
	haveHigh, haveLow := bits.Mul64(m.limit-low-cost, width)
	return needHigh < haveHigh || needHigh == haveHigh && needLow <= haveLow
}

func (m *model) allow(now tallyring.Tick, cost uint64) bool {
	if !m.admits(now, cost) {
		return false
	}
	if cost > 0 {
		bucket, _ := m.view(now)
		m.newest, m.used = bucket, true
		m.counts[bucket] += min(cost, m.most-m.counts[bucket])
	}
	return true
}

// at returns the tick as counted.
func (m *model) at(now tallyring.Tick) tallyring.Tick {
	bucket, _ := m.view(now)
	return max(now, tallyring.Tick(bucket)*tallyring.Tick(m.window.Width))
}

func (m *model) refund(at tallyring.Tick, count uint64) {
	bucket := int64(max(at, 0)) / int64(m.window.Width)
	inRing := m.used && bucket <= m.newest && m.newest-bucket < int64(m.window.Slots)
	if inRing && m.counts[bucket] != m.most {
		m.counts[bucket] -= min(count, m.counts[bucket])
	}
}

// remaining returns the largest cost that passes, found by halving.
func (m *model) remaining(now tallyring.Tick) uint64 {
	if m.limit == tallyring.Unlimited {
		return m.limit
	}
	low, high := uint64(0), m.limit
	for low < high {
		if middle := low + (high-low+1)/2; m.admits(now, middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// retryAfter returns the time to the first admission of a denied event if nothing else comes.
func (m *model) retryAfter(now tallyring.Tick, cost uint64) time.Duration {
	if m.limit == 0 || cost > m.limit {
		return tallyring.Never
	}
	now = max(now, 0)
	width := tallyring.Tick(m.window.Width)
	bucket, _ := m.view(now)
	denied, admitted := now, (tallyring.Tick(bucket)+tallyring.Tick(m.window.Slots))*width
	for admitted-denied > 1 {
		if middle := denied + (admitted-denied)/2; m.admits(middle, cost) {
			admitted = middle
		} else {
			denied = middle
		}
	}
	return time.Duration(admitted - now)
}
