package exphist

import (
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// saturated is the weight of what did not fit. It is above every finite limit.
const saturated = math.MaxUint64

// oldest returns the size of the oldest bucket of the view, or 0 if there is none.
func (v view) oldest() uint64 {
	if v.total == 0 {
		return 0
	}
	return 1 << v.level
}

// weigh returns what decisions take for the count of the events that the view holds: High, or the
// estimate rounded up.
func (b *buckets) weigh(v view) uint64 {
	if b.byEstimate {
		return v.total - (max(v.oldest(), 1)-1)/2
	}
	return v.total
}

// weighAt is weigh for what the window that ends at place holds, where v is live then.
func (b *buckets) weighAt(place int64, v view) uint64 {
	if b.over > place-b.span {
		return saturated
	}
	return b.weigh(v)
}

// readAt returns the reading of the window that ends at place, which is not before newest.
func (b *buckets) readAt(place int64) tallyring.Reading {
	v := b.live(place - b.span)
	r := tallyring.Reading{Low: v.total, High: v.total}
	if size := v.oldest(); size > 1 {
		r.Low = v.total - size + 1
	}
	if b.over > place-b.span {
		r.High = saturated
		r.Estimate = saturated
		return r
	}
	r.Estimate = float64(r.High) - float64(r.High-r.Low)/2
	return r
}

// clamp returns the limit that decides: limit, or the most that is promised to fit.
func (b *buckets) clamp(limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	return min(limit, b.most)
}

// admits tells whether cost passes where weight counts. A saturated weight passes no finite limit.
func admits(weight, cost, limit uint64) bool {
	if limit == tallyring.Unlimited {
		return true
	}
	return limit > 0 && cost <= limit && weight <= limit-cost
}

// allow decides cost at place, which is not before newest, counts it if it is admitted, and changes
// nothing if not.
func (b *buckets) allow(place int64, cost, limit uint64) bool {
	v := b.live(place - b.span)
	if !admits(b.weighAt(place, v), cost, b.clamp(limit)) {
		return false
	}
	if cost > 0 {
		b.count(place, v, cost)
	}
	return true
}

// take is allow with the whole answer, for places that are ticks: now is the one that was given.
func (b *buckets) take(now int64, cost, limit uint64) tallyring.Decision {
	place := max(now, b.newest)
	v := b.live(place - b.span)
	limit = b.clamp(limit)
	d := tallyring.Decision{Limit: limit, At: tallyring.Tick(place)}
	if d.Allowed = admits(b.weighAt(place, v), cost, limit); !d.Allowed {
		d.RetryAfter = b.retryAfter(now, v, cost, limit)
	} else if cost > 0 {
		b.count(place, v, cost)
		v = b.all()
	}
	weight := b.weighAt(place, v)
	switch {
	case limit == tallyring.Unlimited:
		d.Remaining = tallyring.Unlimited
	case weight < limit:
		d.Remaining = limit - weight
	}
	if weight > 0 {
		d.ResetAfter = b.until(b.newest, now)
	}
	return d
}

// retryAfter returns how long after now a cost that was denied will pass, where v is live.
func (b *buckets) retryAfter(now int64, v view, cost, limit uint64) time.Duration {
	if limit == 0 || cost > limit {
		return tallyring.Never
	}
	room := limit - cost
	last := int64(never)
	if b.over > max(now, b.newest)-b.span {
		last = b.over
		v = b.live(last)
	}
	if b.weigh(v) > room {
		last = b.lastToLeave(v, room)
	}
	return b.until(last, now)
}

// lastToLeave returns the end of the bucket whose leaving leaves no more than room, where v holds
// more. That is so for the last one, so there is one.
func (b *buckets) lastToLeave(v view, room uint64) int64 {
	for b.weigh(b.without(v, b.ring(v.level).count-v.skip)) > room {
		v = b.without(v, b.ring(v.level).count-v.skip)
	}
	r := b.ring(v.level)
	// While at most few of the oldest leave too much stays, and once many leave no more than
	// enough does. The distance halves.
	few, many := 0, r.count-v.skip
	for many-few > 1 {
		middle := few + (many-few)/2
		if b.weigh(b.without(v, middle)) > room {
			few = middle
		} else {
			many = middle
		}
	}
	return b.end(v.level, r, v.skip+many-1)
}

// without returns the view without the n oldest buckets of its level.
func (b *buckets) without(v view, n int) view {
	v.skip += n
	v.total -= uint64(n) << v.level
	if v.total > 0 && v.skip == b.ring(v.level).count {
		v.level--
		v.skip = 0
	}
	return v
}

// until returns how long after now what ends at end leaves the window, or Never where that lies
// beyond the last tick there is.
func (b *buckets) until(end, now int64) time.Duration {
	if end > math.MaxInt64-b.span {
		return tallyring.Never
	}
	return time.Duration(end + b.span - now)
}
