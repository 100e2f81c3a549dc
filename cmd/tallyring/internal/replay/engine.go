package replay

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// limiterEngine is tallyring's limiter with a clock that stands at the request's tick, and keys
// that are hashed once.
type limiterEngine struct {
	clock   tallyring.ManualClock
	limiter *limiter.Limiter
	first   uint32        // key of the batch
	keys    []limiter.Key // from first on
}

// maxEngineBytes bounds the memory of one limiter: a ring takes 8 bytes for each slot of each key,
// and a table has room for a third more keys than it is asked for.
const maxEngineBytes = 8 << 30

// fits returns an error if the rings of so many keys would take more memory than that.
func (s Scheme) fits(keys int) error {
	bytes := uint64(keys) * uint64(s.Slots()) * 8 * 4 / 3
	if bytes <= uint64(maxEngineBytes) {
		return nil
	}
	return fmt.Errorf("%d slots for each of %d keys take %d GiB, more than %d, "+
		"want a wider resolution", s.Slots(), keys, bytes>>30, int64(maxEngineBytes)>>30)
}

// newLimiterEngine returns a fresh limiter for the keys of a batch.
func newLimiterEngine(
	b batch, plan Plan, s Scheme, line Timeline, first tallyring.Tick,
) (engine, error) {
	g := &limiterEngine{first: b.first, keys: make([]limiter.Key, len(b.names))}
	g.clock.Set(line.At(first))
	var err error
	g.limiter, err = newLimiter(plan, s, line.scale, len(b.names), &g.clock)
	if err != nil {
		return nil, err
	}
	for n, name := range b.names {
		g.keys[n] = g.limiter.Key(name)
	}
	return g, nil
}

// newLimiter returns the limiter of a scheme, for so many keys, with all times multiplied by scale.
func newLimiter(
	plan Plan, s Scheme, scale int64, keys int, clock tallyring.Clock,
) (*limiter.Limiter, error) {
	window := plan.Window * time.Duration(scale)
	options := []limiter.Option{limiter.WithKeys(keys), limiter.WithClock(clock)}
	switch s.Name {
	case "log":
		options = append(options, limiter.WithLog())
	case "fixed":
		options = append(options, limiter.WithFixedWindow())
	case "strict":
		options = append(options, limiter.WithStrictWindow())
		fallthrough
	case "sliding":
		options = append(options, limiter.WithResolution(window/time.Duration(s.Resolution)))
	}
	return limiter.New(plan.Limit, window, options...)
}

func (g *limiterEngine) allow(key uint32, tick tallyring.Tick) bool {
	g.clock.Set(tick)
	return g.limiter.AllowKey(g.keys[key-g.first], tick, 1)
}
