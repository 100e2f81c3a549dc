package pertcore

import (
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// Take is Allow with the whole answer. Remaining is what is left when all shards are added up,
// which other goroutines may have used in part by the time Take returns.
func (l *Limiter) Take(now tallyring.Tick, cost uint64) tallyring.Decision {
	shard := &l.shards[shardOf(len(l.shards))].word
	for {
		v := l.decide(shard, now, cost)
		if v.allowed {
			sum := l.sum(now)
			d := l.ring.Answer(
				l.words, sum.counted, sum.Standing, sum.ahead, now, cost, v.limit, true)
			d.At = l.ring.At(v.Standing, now)
			return d
		}
		d := l.ring.Answer(l.words, v.counted, v.Standing, v.ahead, now, cost, v.limit, false)
		if l.unchanged(v.center) {
			return d
		}
	}
}

// Observe counts an event that is not to be decided on, whatever the limit. It may take the count
// beyond it.
func (l *Limiter) Observe(now tallyring.Tick, cost uint64) {
	mask := l.ring.CountMask()
	for cost > 0 {
		v := verdict{center: l.look()}
		v.counted = v.plain()
		l.weigh(&v, now)
		count := v.head & mask
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.LimiterCount)
		}
		counted := min(count+min(cost, mask), mask)
		switch {
		case !v.exact() && v.ahead > 0:
			l.fold(v.center, l.ring.SealMark())
		case !v.exact():
			l.fold(v.center, 0)
		case v.ahead > 0:
			l.turn(v.head, v.Index-v.ahead, v.Index)
		case l.swap(v.center, v.key, v.head-count+counted):
			return
		}
	}
}

// sum adds up what the center and the shards count at now. It repeats when a generation has ended
// meanwhile, or an exact count has changed, and so after another goroutine's progress.
func (l *Limiter) sum(now tallyring.Tick) verdict {
	for {
		v := verdict{center: l.look()}
		if l.addUp(&v, now) {
			return v
		}
	}
}

// Read returns what the window holds at now, with its error. It may miss events that were admitted
// while it added up the shards, and no other.
func (l *Limiter) Read(now tallyring.Tick) tallyring.Reading {
	return l.ring.Reading(l.sum(now).Standing)
}

// Estimate returns the weighted count of the window at now.
func (l *Limiter) Estimate(now tallyring.Tick) float64 { return l.Read(now).Estimate }

// Limit returns the limit.
func (l *Limiter) Limit() uint64 { return l.limit.Load() }

// MaxLimit returns the largest limit that SetLimit takes, beside [tallyring.Unlimited].
func (l *Limiter) MaxLimit() uint64 { return l.ring.MaxLimit() }

// SetLimit changes the limit for all decisions that begin after it has returned, and changes no
// count. Of the decisions that run meanwhile each goes by the old limit or the new one, and none
// that goes by the old one is counted after SetLimit has returned. It fails if the count cannot
// hold the limit.
//
// A decision reads the center before the limit, and swaps the center, key included, or a shard that
// is open in the center's generation. If it reads the limit before SetLimit stores the new one, it
// has read the center before SetLimit ends its generation: so it is done before that, or its swap
// fails.
func (l *Limiter) SetLimit(limit uint64) error {
	if err := l.holds(limit); err != nil {
		return err
	}
	l.limit.Store(limit)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.LimiterStored)
	}
	began := l.pair.Key.Load() >> sinceBits
	for {
		c := l.look()
		if c.generation() != began {
			return nil
		}
		l.fold(c, 0)
	}
}

// Refund takes back count events that were counted at the tick at, which is Decision.At. It never
// takes more than the bucket holds, and does nothing once the bucket has left the window or is
// saturated.
func (l *Limiter) Refund(at tallyring.Tick, count uint64) {
	for {
		v := verdict{center: l.look()}
		v.counted = v.plain()
		l.weigh(&v, at)
		held := v.head & l.ring.CountMask()
		sealed := v.head&l.ring.SealMark() != 0
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.LimiterCount)
		}
		switch {
		case count == 0 || v.ahead > 0 && !sealed:
			return // nothing was counted in a bucket newer than the newest
		case v.ahead > 0:
			l.turn(v.head, v.Index-v.ahead, v.Index)
		case l.ring.Behind(v.Standing, at) > 0:
			if l.ring.TryRefund(l.words, v.plain(), at, count) != atomicring.Again {
				return
			}
		case !v.exact():
			l.fold(v.center, 0)
		case held == l.ring.CountMask() || held == 0:
			return
		case l.pair.State.CompareAndSwap(v.head, v.head-min(held, count)):
			return
		}
	}
}

// Shards returns over how many lines the counts are spread.
func (l *Limiter) Shards() int { return len(l.shards) }
