package contender

import (
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/pertcore"
)

// ring is the engine's ring without keys.
type ring struct {
	ring  *atomicring.Ring
	limit uint64
}

func newRing(slots int, limit Limit) (Single, error) {
	return newRingOf(tallyring.Window{Slots: slots, Width: Span / widths(slots)}, limit)
}

func newRingOf(w tallyring.Window, limit Limit) (Single, error) {
	made, err := atomicring.NewFor(w, uint64(limit))
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

// spread is the engine's limit that is spread over processors.
type spread struct{ limiter *pertcore.Limiter }

func newSpread(limit Limit) (Single, error) {
	made, err := pertcore.NewLimiter(tallyring.Window{Slots: 2, Width: Span}, uint64(limit))
	return spread{made}, err
}

func (s spread) Decide(e Events) (allowed int) {
	l, now := s.limiter, e.From
	for range e.Count {
		if l.Allow(now, 1) {
			allowed++
		}
		now += e.Step
	}
	return allowed
}

// newLimiter returns a limiter, of two buckets where no option says otherwise. Its clock stands
// after every tick that is given to it: those that lie ahead of the clock it counts one by one,
// since that is a mistake of its user's.
func newLimiter(keys int, limit Limit, options ...limiter.Option) (*limiter.Limiter, error) {
	clock := &tallyring.ManualClock{}
	clock.Set(Start + 1<<61)
	options = append(options, limiter.WithKeys(keys), limiter.WithClock(clock))
	return limiter.New(uint64(limit), Span, options...)
}

// texts is the engine's limiter with keys given as text.
type texts struct{ limiter *limiter.Limiter }

func newTexts(keys int, limit Limit) (Keyed, error) {
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

// clocked is the same with a clock of its own. Its window is long and its limit wide, since a run
// falls into one window.
type clocked struct{ limiter *limiter.Limiter }

func newClocked(clock tallyring.Clock) func(int, Limit) (Keyed, error) {
	return func(keys int, limit Limit) (Keyed, error) {
		if limit == Plenty {
			limit = 1 << 23
		}
		made, err := limiter.New(uint64(limit), longSpan, limiter.WithKeys(keys),
			limiter.WithClock(clock))
		return clocked{made}, err
	}
}

func (c clocked) Decide(keys []string, _ tallyring.Tick) (allowed int) {
	l := c.limiter
	for _, key := range keys {
		if l.Allow(key) {
			allowed++
		}
	}
	return allowed
}

// hashes is the engine's limiter with keys that were hashed before.
type hashes struct{ limiter *limiter.Limiter }

func newHashes(keys int, limit Limit) (Hashed, error) {
	made, err := newLimiter(keys, limit)
	return hashes{made}, err
}

func (h hashes) Decide(keys []limiter.Key, now tallyring.Tick) (allowed int) {
	l := h.limiter
	for _, key := range keys {
		if l.AllowKey(key, now, 1) {
			allowed++
		}
	}
	return allowed
}

// batches is the same in batches.
type batches struct{ limiter *limiter.Limiter }

func newBatches(keys int, limit Limit) (Hashed, error) {
	made, err := newLimiter(keys, limit)
	return batches{made}, err
}

func (b batches) Decide(keys []limiter.Key, now tallyring.Tick) (allowed int) {
	const some = 256
	var answers [some]bool
	for len(keys) > 0 {
		n := min(len(keys), some)
		b.limiter.AllowMany(keys[:n], now, 1, answers[:n])
		for _, ok := range answers[:n] {
			if ok {
				allowed++
			}
		}
		keys = keys[n:]
	}
	return allowed
}
