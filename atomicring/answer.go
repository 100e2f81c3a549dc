package atomicring

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// TryTake is Try with the whole answer, which is complete unless the verdict is Again.
func (g *Tagged) TryTake(
	words []atomic.Uint64, head uint64, now tallyring.Tick, cost, limit uint64,
) (tallyring.Decision, Verdict) {
	limit = g.clamp(limit)
	s, verdict := g.trySlow(words, head, now, cost, limit)
	if verdict == Again {
		return tallyring.Decision{}, Again
	}
	allowed := verdict == Admitted
	ahead := uint64(max(g.distance(s.index, head>>g.indexShift), 0))
	var retry, empty uint64
	switch {
	case !allowed && !hopeless(cost, limit):
		retry = g.retry(words, head, s, ahead, cost, limit)
		fallthrough
	case !allowed, cost == 0:
		empty = g.empty(words, head, s, ahead)
		verdict = unchanged(words, head, verdict)
	default:
		s.full += min(cost, ^s.full)
		empty = (s.index + g.slots) * g.width
	}
	return g.decision(s, now, cost, limit, allowed, retry, empty), verdict
}

// retry returns the first tick at which s, whose head lies ahead buckets back, admits cost if nothing
// comes. The cost is at most the limit. One bucket after another becomes the oldest, then leaves.
func (g *Tagged) retry(
	words []atomic.Uint64, head uint64, s standing, ahead, cost, limit uint64,
) uint64 {
	for age := g.slots - 1; ; age-- {
		if nanos, ok := g.passes(s, cost, limit); ok {
			return nanos
		}
		s.index++
		if age == 0 {
			return s.index * g.width
		}
		s.elapsed = 0
		s.oldest = g.countAt(words, head, s.index-g.slots+1, age-1, ahead)
		s.full -= min(s.full, s.oldest)
	}
}

// empty returns the tick at which nothing of s is left in the window: when the newest bucket that
// counts anything leaves it.
func (g *Tagged) empty(words []atomic.Uint64, head uint64, s standing, ahead uint64) uint64 {
	if s.full == 0 && s.oldest == 0 {
		return 0
	}
	for age := ahead; age < g.slots; age++ {
		if g.countAt(words, head, s.index-age, age, ahead) > 0 {
			return (s.index - age + g.slots) * g.width
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
	s, _ := g.standing(words, head, now)
	return g.reading(s), unchanged(words, head, Admitted)
}
