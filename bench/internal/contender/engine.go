package contender

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/limiter"
)

// ring is the engine's ring without keys.
type ring struct {
	ring  *atomicring.Ring
	limit uint64
}

// NewRing returns a ring of the given slots that together cover Span.
func NewRing(slots int, limit Limit) (Single, error) {
	width := Span / time.Duration(max(slots-1, 1))
	made, err := atomicring.NewFor(tallyring.Window{Slots: slots, Width: width}, uint64(limit))
	return ring{made, uint64(limit)}, err
}

func (r ring) Decide(e Events) (allowed int) {
	counters, limit, now := r.ring, r.limit, e.From
	for range e.Count {
		if counters.Allow(now, 1, limit) {
			allowed++
		}
		now += e.Step
	}
	return allowed
}

// texts is the engine's limiter with keys given as text.
type texts struct{ limiter *limiter.Limiter }

// newLimiter returns a limiter of two buckets whose own clock stands at Start, as the ticks that it
// is given do.
func newLimiter(keys int, limit Limit) (*limiter.Limiter, error) {
	clock := &tallyring.ManualClock{}
	clock.Set(Start)
	return limiter.New(uint64(limit), Span, limiter.WithKeys(keys), limiter.WithClock(clock))
}

// NewTexts returns the engine's limiter for keys given as text.
func NewTexts(keys int, limit Limit) (Keyed, error) {
	made, err := newLimiter(keys, limit)
	return texts{made}, err
}

func (t texts) Decide(keys []string, now tallyring.Tick) (allowed int) {
	l := t.limiter
	for _, key := range keys {
		if l.AllowAt(key, now, 1) {
			allowed++
		}
	}
	return allowed
}
