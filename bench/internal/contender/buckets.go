package contender

import (
	"math"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
	juju "github.com/juju/ratelimit"
	uber "go.uber.org/ratelimit"
)

// jujuBucket is github.com/juju/ratelimit: a token bucket with a mutex, and a clock that is given.
type jujuBucket struct {
	bucket *juju.Bucket
	clock  *handClock
}

func newJuju(limit Limit) (Single, error) {
	clock := &handClock{}
	clock.Set(Start)
	bucket := juju.NewBucketWithClock(Span/time.Duration(limit), int64(limit), clock)
	return jujuBucket{bucket, clock}, nil
}

func (j jujuBucket) Decide(e Events) (allowed int) {
	j.clock.Set(e.From)
	for range e.Count {
		if j.bucket.TakeAvailable(1) == 1 {
			allowed++
		}
		if e.Step > 0 {
			j.clock.Advance(time.Duration(e.Step))
		}
	}
	return allowed
}

// uberPacer is go.uber.org/ratelimit: one word that says when the next event is due. It answers by
// making its caller wait; with the ticks of these workloads nobody has to.
type uberPacer struct {
	limiter uber.Limiter
	clock   *handClock
}

func newUber(limit Limit) (Single, error) {
	clock := &handClock{}
	clock.Set(Start)
	limiter := uber.New(int(limit), uber.Per(Span), uber.WithClock(clock), uber.WithSlack(1<<20))
	return uberPacer{limiter, clock}, nil
}

func (u uberPacer) Decide(e Events) (allowed int) {
	u.clock.Set(e.From)
	before := u.clock.slept
	for range e.Count {
		u.limiter.Take()
		if e.Step > 0 {
			u.clock.Advance(time.Duration(e.Step))
		}
	}
	return e.Count - (u.clock.slept - before)
}

// failsafe is github.com/failsafe-go/failsafe-go: a fixed window with a mutex and its own clock.
type failsafe struct{ limiter ratelimiter.RateLimiter[any] }

func newFailsafe(limit Limit) (Single, error) {
	most := uint(min(limit.ofClock(), math.MaxInt))
	return failsafe{ratelimiter.NewBursty[any](most, longSpan)}, nil
}

func (f failsafe) Decide(e Events) (allowed int) {
	for range e.Count {
		if f.limiter.TryAcquirePermit() {
			allowed++
		}
	}
	return allowed
}
