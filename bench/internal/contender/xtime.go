package contender

import (
	"sync"
	"time"

	"github.com/tallyring/tallyring"
	"golang.org/x/time/rate"
)

// origin is the time that stands for tick 0 where a contender wants a time.Time.
var origin = time.Unix(1_700_000_000, 0)

// at returns the time that stands for a tick.
func at(now tallyring.Tick) time.Time { return origin.Add(time.Duration(now)) }

// xtime is golang.org/x/time/rate: one token bucket with a mutex.
type xtime struct{ limiter *rate.Limiter }

func newXTimeLimiter(limit Limit) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(limit)/Span.Seconds()), int(limit))
}

// NewXTime returns a token bucket that holds limit and fills in Span.
func NewXTime(limit Limit) (Single, error) { return xtime{newXTimeLimiter(limit)}, nil }

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

// NewXTimes returns a map of token buckets.
func NewXTimes(keys int, limit Limit) (Keyed, error) {
	return &xtimes{limiters: map[string]*rate.Limiter{}, limit: limit}, nil
}

func (x *xtimes) Decide(keys []string, now tallyring.Tick) (allowed int) {
	t := at(now)
	for _, key := range keys {
		x.mu.Lock()
		limiter, ok := x.limiters[key]
		if !ok {
			limiter = newXTimeLimiter(x.limit)
			x.limiters[key] = limiter
		}
		x.mu.Unlock()
		if limiter.AllowN(t, 1) {
			allowed++
		}
	}
	return allowed
}
