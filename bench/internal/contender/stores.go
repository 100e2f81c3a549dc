package contender

import (
	"context"

	"github.com/didip/tollbooth/v7"
	tollboothlimiter "github.com/didip/tollbooth/v7/limiter"
	"github.com/go-chi/httprate"
	"github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/tallyring/tallyring"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

// httprateCounter is the counter of github.com/go-chi/httprate, with the decision that its
// middleware makes from it, but without the mutex around both, which only contention would show.
type httprateCounter struct {
	counter httprate.LimitCounter
	limit   float64
}

func newHTTPRate(_ int, limit Limit) (Keyed, error) {
	return httprateCounter{httprate.NewLocalLimitCounter(Span), float64(limit)}, nil
}

func (h httprateCounter) Decide(keys []string, now tallyring.Tick) (allowed int) {
	t := at(now).UTC()
	current := t.Truncate(Span)
	previous := current.Add(-Span)
	weight := float64(Span-t.Sub(current)) / float64(Span)
	for _, key := range keys {
		count, before, err := h.counter.Get(key, current, previous)
		if err != nil || float64(before)*weight+float64(count)+1 > h.limit {
			continue
		}
		if h.counter.IncrementBy(key, current, 1) == nil {
			allowed++
		}
	}
	return allowed
}

// goLimiter is the memory store of github.com/sethvargo/go-limiter.
type goLimiter struct{ store limiter.Store }

func newGoLimiter(keys int, limit Limit) (Keyed, error) {
	store, err := memorystore.New(&memorystore.Config{
		Tokens: uint64(limit.ofClock()), Interval: longSpan, SweepInterval: longSpan,
		SweepMinTTL: longSpan, InitialAlloc: keys,
	})
	return goLimiter{store}, err
}

func (g goLimiter) Decide(keys []string, _ tallyring.Tick) (allowed int) {
	ctx := context.Background()
	for _, key := range keys {
		if _, _, _, ok, err := g.store.Take(ctx, key); ok && err == nil {
			allowed++
		}
	}
	return allowed
}

// Close ends the goroutine that sweeps the store.
func (g goLimiter) Close() error { return g.store.Close(context.Background()) }

// ululeStore is github.com/ulule/limiter with its memory store.
type ululeStore struct{ limiter *ulule.Limiter }

func newUlule(_ int, limit Limit) (Keyed, error) {
	store := memory.NewStoreWithOptions(ulule.StoreOptions{Prefix: "b", CleanUpInterval: longSpan})
	rate := ulule.Rate{Period: longSpan, Limit: limit.ofClock()}
	return ululeStore{ulule.New(store, rate)}, nil
}

func (u ululeStore) Decide(keys []string, _ tallyring.Tick) (allowed int) {
	ctx := context.Background()
	for _, key := range keys {
		if answer, err := u.limiter.Get(ctx, key); err == nil && !answer.Reached {
			allowed++
		}
	}
	return allowed
}

// throttledStore is github.com/throttled/throttled with its memory store that evicts nothing, whose
// clock can be given.
type throttledStore struct {
	limiter *throttled.GCRARateLimiterCtx
	clock   *handClock
}

func newThrottled(_ int, limit Limit) (Keyed, error) {
	store, err := memstore.New(0)
	if err != nil {
		return nil, err
	}
	clock := &handClock{}
	store.SetTimeNow(clock.Now)
	quota := throttled.RateQuota{
		MaxRate: throttled.PerDuration(int(limit), Span), MaxBurst: int(limit) - 1,
	}
	made, err := throttled.NewGCRARateLimiterCtx(throttled.WrapStoreWithContext(store), quota)
	return throttledStore{made, clock}, err
}

func (t throttledStore) Decide(keys []string, now tallyring.Tick) (allowed int) {
	ctx := context.Background()
	t.clock.Set(now)
	for _, key := range keys {
		if limited, _, err := t.limiter.RateLimitCtx(ctx, key, 1); err == nil && !limited {
			allowed++
		}
	}
	return allowed
}

// tollboothLimiter is github.com/didip/tollbooth by its key, without the request around it.
type tollboothLimiter struct{ limiter *tollboothlimiter.Limiter }

func newTollbooth(_ int, limit Limit) (Keyed, error) {
	made := tollbooth.NewLimiter(float64(limit)/longSpan.Seconds(), nil)
	return tollboothLimiter{made.SetBurst(int(limit.ofClock()))}, nil
}

func (t tollboothLimiter) Decide(keys []string, _ tallyring.Tick) (allowed int) {
	for _, key := range keys {
		if !t.limiter.LimitReached(key) {
			allowed++
		}
	}
	return allowed
}
