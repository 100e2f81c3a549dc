package contender

import (
	"sync"
	"time"

	"github.com/RussellLuo/slidingwindow"
	"github.com/tallyring/tallyring"
)

func newSliding(limit Limit) *slidingwindow.Limiter {
	window := func() (slidingwindow.Window, slidingwindow.StopFunc) {
		return slidingwindow.NewLocalWindow()
	}
	limiter, _ := slidingwindow.NewLimiter(Span, int64(limit), window)
	return limiter
}

// sliding is github.com/RussellLuo/slidingwindow: two buckets with a mutex.
type sliding struct{ limiter *slidingwindow.Limiter }

func newSlidingSingle(limit Limit) (Single, error) { return sliding{newSliding(limit)}, nil }

func (s sliding) Decide(e Events) (allowed int) {
	limiter, now, step := s.limiter, at(e.From), time.Duration(e.Step)
	for range e.Count {
		if limiter.AllowN(now, 1) {
			allowed++
		}
		now = now.Add(step)
	}
	return allowed
}

// slidings is the same in a map with a mutex.
type slidings struct {
	mu       sync.Mutex
	limiters map[string]*slidingwindow.Limiter
	limit    Limit
}

func newSlidings(_ int, limit Limit) (Keyed, error) {
	return &slidings{limiters: map[string]*slidingwindow.Limiter{}, limit: limit}, nil
}

func (s *slidings) Decide(keys []string, now tallyring.Tick) (allowed int) {
	t := at(now)
	for _, key := range keys {
		s.mu.Lock()
		limiter, ok := s.limiters[key]
		if !ok {
			limiter = newSliding(s.limit)
			s.limiters[key] = limiter
		}
		s.mu.Unlock()
		if limiter.AllowN(t, 1) {
			allowed++
		}
	}
	return allowed
}
