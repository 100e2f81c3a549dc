package replay

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/slidinglog"
)

// Counter is the window of one key on its own: the engine below the limiter, which also tells what
// it has counted.
type Counter interface {
	Add(now tallyring.Tick, count uint64) bool
	Allow(now tallyring.Tick, cost, limit uint64) bool
	Read(now tallyring.Tick) tallyring.Reading
}

// Counter returns an empty window of the scheme, with all times multiplied by scale, that counts up
// to most requests.
func (s Scheme) Counter(window time.Duration, scale int64, most uint64) (Counter, error) {
	length := window * time.Duration(scale)
	w := tallyring.Window{Slots: s.Slots(), Width: length, Strict: s.Name == "strict"}
	switch s.Name {
	case "log":
		return slidinglog.New(length)
	case "sliding", "strict":
		w.Width = length / time.Duration(s.Resolution)
	case "fixed":
	default:
		return nil, fmt.Errorf("no scheme is named %q, want log, fixed, sliding or strict", s.Name)
	}
	return atomicring.NewFor(w, most)
}
