package atomicring

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// TryTake is Try with the whole answer, which is complete unless the verdict is Again.
func (g *Tagged) TryTake(
	words []atomic.Uint64, head uint64, now tallyring.Tick, cost, limit uint64,
) (tallyring.Decision, Verdict) {
	s, ahead, verdict := g.weighed(words, head, now, cost, limit)
	if verdict == Again {
		return tallyring.Decision{}, Again
	}
	allowed := verdict == Admitted
	if allowed && cost > 0 {
		s.Full += min(cost, ^s.Full)
		return g.Answer(words, g.counted(head, cost), s, ahead, now, cost, limit, true), Admitted
	}
	d := g.Answer(words, head, s, ahead, now, cost, limit, allowed)
	return d, unchanged(words, head, verdict)
}

// Answer assembles the answer to an event at now that was allowed or denied on s, whose head lies
// ahead buckets back. Both count the event already where it was allowed.
func (g *Tagged) Answer(
	words []atomic.Uint64, head uint64, s Standing, ahead uint64,
	now tallyring.Tick, cost, limit uint64, allowed bool,
) tallyring.Decision {
	limit = g.Clamp(limit)
	var retry uint64
	if !allowed && !hopeless(cost, limit) {
		retry = g.retry(words, head, s, ahead, cost, limit)
	}
	return g.decision(s, now, cost, limit, allowed, retry, g.empty(words, head, s, ahead))
}

// retry returns the first tick at which s, whose head lies ahead buckets back, admits cost if
// nothing comes. The cost is at most the limit. One bucket after another becomes the oldest, then
// leaves.
func (g *Tagged) retry(
	words []atomic.Uint64, head uint64, s Standing, ahead, cost, limit uint64,
) uint64 {
	for age := g.slots - 1; ; age-- {
		if nanos, ok := g.passes(s, cost, limit); ok {
			return nanos
		}
		s.Index++
		if age == 0 {
			return s.Index * g.width
		}
		s.Elapsed = 0
		s.Oldest = g.countAt(words, head, s.Index-g.slots+1, age-1, ahead)
		s.Full -= min(s.Full, s.Oldest)
	}
}

// empty returns the tick at which nothing of s is left in the window: when the newest bucket that
// counts anything leaves it.
func (g *Tagged) empty(words []atomic.Uint64, head uint64, s Standing, ahead uint64) uint64 {
	if s.Full == 0 && s.Oldest == 0 {
		return 0
	}
	for age := ahead; age < g.slots; age++ {
		if g.countAt(words, head, s.Index-age, age, ahead) > 0 {
			return (s.Index - age + g.slots) * g.width
		}
	}
	return 0
}

// countAt returns the count of bucket index, which lies age buckets back from the one decided in,
// where the head lies ahead buckets back.
func (g *Tagged) countAt(
	words []atomic.Uint64, head, index, age, ahead uint64,
) uint64 {
	switch {
	case age < ahead:
		return 0
	case age == ahead:
		return head & g.maxCount
	}
	word := g.slot(words, index).Load()
	if g.age(word, index) != 0 {
		return 0
	}
	return word & g.maxCount
}

// TryRead returns what the ring counts at now, unless the verdict is Again.
func (g *Tagged) TryRead(
	words []atomic.Uint64, head uint64, now tallyring.Tick,
) (tallyring.Reading, Verdict) {
	s, _ := g.Standing(words, head, now)
	return g.Reading(s), unchanged(words, head, Admitted)
}
