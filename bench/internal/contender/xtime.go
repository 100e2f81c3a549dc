package contender

import (
	"sync"
	"time"

	"github.com/tallyring/tallyring"
	"golang.org/x/time/rate"
)

// xtime is golang.org/x/time/rate: one token bucket with a mutex.
type xtime struct{ limiter *rate.Limiter }

func newBucket(limit Limit) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(limit)/Span.Seconds()), int(limit))
}

func newXTime(limit Limit) (Single, error) { return xtime{newBucket(limit)}, nil }

func (x xtime) Decide(e Events) (allowed int) {
	limiter, now, step := x.limiter, at(e.From), time.Duration(e.Step)
	for range e.Count {
		if limiter.AllowN(now, 1) {
			allowed++
		}
		now = now.Add(step)
	}
	return allowed
}

// xtimes is what its users write for many keys: a map with a mutex.
type xtimes struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
	limit    Limit
}

func newXTimes(_ int, limit Limit) (Keyed, error) {
	return &xtimes{limiters: map[string]*rate.Limiter{}, limit: limit}, nil
}

func (x *xtimes) Decide(keys []string, now tallyring.Tick) (allowed int) {
	t := at(now)
	for _, key := range keys {
		x.mu.Lock()
		limiter, ok := x.limiters[key]
		if !ok {
			limiter = newBucket(x.limit)
			x.limiters[key] = limiter
		}
		x.mu.Unlock()
		if limiter.AllowN(t, 1) {
			allowed++
		}
	}
	return allowed
}
