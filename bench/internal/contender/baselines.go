package contender

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v3"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// pace is a limit as the baselines know it: an event makes the next one due interval later, and may
// come up to burst early.
type pace struct{ interval, burst int64 }

func paceOf(limit Limit) pace {
	interval := max(int64(Span)/int64(limit), 1)
	return pace{interval, interval * int64(limit)}
}

// due is the generic cell rate algorithm in one word: when the next event is due.
type due struct{ at atomic.Int64 }

func (d *due) allow(now tallyring.Tick, p pace) bool {
	for {
		old := d.at.Load()
		next := max(old, int64(now)) + p.interval
		if next-int64(now) > p.burst {
			return false
		}
		if d.at.CompareAndSwap(old, next) {
			return true
		}
	}
}

// bucket is a token bucket with a mutex.
type bucket struct {
	mu     sync.Mutex
	tokens float64
	last   tallyring.Tick
}

func (b *bucket) allow(now tallyring.Tick, limit float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now > b.last {
		gained := float64(now-b.last) * (limit / float64(Span))
		b.tokens, b.last = min(b.tokens+gained, limit), now
	}
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// syncMap is a sync.Map of buckets with a mutex each.
type syncMap struct {
	buckets sync.Map
	limit   float64
}

func newSyncMap(_ int, limit Limit) (Keyed, error) { return &syncMap{limit: float64(limit)}, nil }

func (s *syncMap) Decide(keys []string, now tallyring.Tick) (allowed int) {
	for _, key := range keys {
		found, ok := s.buckets.Load(key)
		if !ok {
			found, _ = s.buckets.LoadOrStore(key, &bucket{tokens: s.limit, last: now})
		}
		if found.(*bucket).allow(now, s.limit) {
			allowed++
		}
	}
	return allowed
}

// xsyncMap is an xsync map of words.
type xsyncMap struct {
	words *xsync.MapOf[string, *due]
	pace  pace
}

func newXSync(_ int, limit Limit) (Keyed, error) {
	return xsyncMap{xsync.NewMapOf[string, *due](), paceOf(limit)}, nil
}

func (x xsyncMap) Decide(keys []string, now tallyring.Tick) (allowed int) {
	for _, key := range keys {
		word, ok := x.words.Load(key)
		if !ok {
			word, _ = x.words.LoadOrStore(key, &due{})
		}
		if word.allow(now, x.pace) {
			allowed++
		}
	}
	return allowed
}

// keyless is an array of words that hashes pick: keys that collide share a limit.
type keyless struct {
	words []due
	pace  pace
}

// keylessPerKey is how many words keyless has for each key: at two, about two keys of five share
// a word with another.
const keylessPerKey = 2

func newKeyless(keys int, limit Limit) (Hashed, error) {
	return keyless{make([]due, keys*keylessPerKey), paceOf(limit)}, nil
}

func (k keyless) Decide(keys []limiter.Key, now tallyring.Tick) (allowed int) {
	words, pace := k.words, k.pace
	for _, key := range keys {
		i, _ := bits.Mul64(uint64(key), uint64(len(words)))
		if words[i].allow(now, pace) {
			allowed++
		}
	}
	return allowed
}

// xsyncHashes is xsyncMap for keys that are hashes.
type xsyncHashes struct {
	words *xsync.MapOf[limiter.Key, *due]
	pace  pace
}

func newXSyncHashes(_ int, limit Limit) (Hashed, error) {
	return xsyncHashes{xsync.NewMapOf[limiter.Key, *due](), paceOf(limit)}, nil
}

func (x xsyncHashes) Decide(keys []limiter.Key, now tallyring.Tick) (allowed int) {
	for _, key := range keys {
		word, ok := x.words.Load(key)
		if !ok {
			word, _ = x.words.LoadOrStore(key, &due{})
		}
		if word.allow(now, x.pace) {
			allowed++
		}
	}
	return allowed
}

// dueSingle is one word of the baselines.
type dueSingle struct {
	word *due
	pace pace
}

func newDueSingle(limit Limit) (Single, error) { return dueSingle{&due{}, paceOf(limit)}, nil }

func (d dueSingle) Decide(e Events) (allowed int) {
	word, now := d.word, e.From
	for range e.Count {
		if word.allow(now, d.pace) {
			allowed++
		}
		now += e.Step
	}
	return allowed
}
