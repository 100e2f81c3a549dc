package lab

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
	"github.com/tallyring/tallyring/exphist"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/slidinglog"
)

const (
	// keysWeighed is how many keys the table has whose memory is divided by them.
	keysWeighed = 1 << 16

	// mostWeighed bounds the memory of that table.
	mostWeighed = 64 << 20

	// mostLogged bounds the requests in the log that is weighed; it holds no more by itself.
	mostLogged = slidinglog.MaxRuns
)

// Bytes returns the memory of one key: of a ring or a token bucket, its share of the table that the
// limiter keeps them in; of the log, what it takes when it holds as many requests as the limit
// admits, each at a tick of its own; of an exponential histogram, what it says, whatever then finds
// it by its key.
func (k Kind) Bytes(p Plan) (float64, error) {
	switch k.Name {
	case "log":
		return logBytes(p)
	case "exphist":
		h, err := exphist.New(p.Window, k.Epsilon, p.Limit)
		if err != nil {
			return 0, err
		}
		return float64(h.Bytes()), nil
	}
	keys := keysWeighed
	for keys > 64 && int64(keys)*int64(k.Slots())*8*4/3 > mostWeighed {
		keys /= 2
	}
	options := []limiter.Option{limiter.WithKeys(keys)}
	scale, err := replay.ScaleOf(k.Resolution, p.Window)
	if err != nil {
		return 0, err
	}
	window := p.Window * time.Duration(scale)
	switch k.Name {
	case "fixed":
		options = append(options, limiter.WithFixedWindow())
	case "gcra":
		options = append(options, limiter.WithBurst(p.Limit))
	case "strict":
		options = append(options, limiter.WithStrictWindow())
		fallthrough
	case "sliding":
		options = append(options, limiter.WithResolution(window/time.Duration(k.Resolution)))
	}
	l, err := limiter.New(p.Limit, window, options...)
	if err != nil {
		return 0, err
	}
	return float64(l.StatsAt(0).Bytes) / float64(keys), nil
}

// logBytes fills a log of one key.
func logBytes(p Plan) (float64, error) {
	k, err := slidinglog.NewKeyed(p.Window, 1)
	if err != nil {
		return 0, err
	}
	events := min(p.Limit, mostLogged, uint64(p.Window))
	for tick := range tallyring.Tick(events) {
		k.Add(1, tick, 1)
	}
	return float64(k.Stats(tallyring.Tick(events) - 1).Bytes), nil
}
