package lab

import (
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// window is one key's window of any kind. One that has no estimate is in the closed loop alone.
type window struct {
	counter     replay.Counter
	hasEstimate bool
}

// open returns an empty window, with all times multiplied by scale, that counts up to most.
func (k Kind) open(p Plan, scale int64, most uint64) (window, error) {
	counter, err := k.Scheme.Counter(p.Window, scale, max(most, p.Limit))
	return window{counter, true}, err
}

// others returns the kinds that are no rings.
func (p Plan) others() []Kind { return nil }

// estimate returns what the window takes its count to be.
func (w window) estimate(now tallyring.Tick) float64 { return w.counter.Read(now).Estimate }
