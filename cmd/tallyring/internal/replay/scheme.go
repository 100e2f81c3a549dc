package replay

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
)

// Scheme is one way of counting.
type Scheme struct {
	Name       string     // "log", "fixed", "sliding" or "strict"
	Resolution Resolution // of a ring; 0 for log and fixed
}

// Slots returns the slots of its ring: 0 for log, 1 for fixed.
func (s Scheme) Slots() int {
	switch s.Name {
	case "log":
		return 0
	case "fixed":
		return 1
	}
	return s.Resolution.Slots()
}

// Plan says what is to be replayed.
type Plan struct {
	Limit       uint64        // at least 1
	Window      time.Duration // more than 0
	Resolutions []Resolution
}

// Validate returns nil, or an error that names the value that is wrong and what would be right.
func (p Plan) Validate() error {
	switch {
	case p.Limit == 0:
		return fmt.Errorf("limit 0 would deny everything, want 1 or more")
	case p.Window <= 0:
		return fmt.Errorf("window %v is not a length of time, want more than 0", p.Window)
	case p.Window > tallyring.MaxLength:
		return fmt.Errorf("window %v is too long, want at most %v", p.Window, tallyring.MaxLength)
	}
	scales, _, err := p.scales()
	if err != nil {
		return err
	}
	for n, s := range p.Schemes() {
		if _, err := newLimiter(p, s, scales[n], 1, &tallyring.ManualClock{}); err != nil {
			return err
		}
	}
	return nil
}

// scales returns the scale of each scheme's Timeline, and the largest.
func (p Plan) scales() (scales []int64, finest int64, err error) {
	for _, s := range p.Schemes() {
		scale, err := ScaleOf(s.Resolution, p.Window)
		if err != nil {
			return nil, 0, err
		}
		scales, finest = append(scales, scale), max(finest, scale)
	}
	return scales, finest, nil
}

// Schemes returns what Run replays: the exact log first, then the fixed window, then for each
// resolution a sliding and a strict ring.
func (p Plan) Schemes() []Scheme {
	all := []Scheme{{Name: "log"}, {Name: "fixed"}}
	for _, r := range p.Resolutions {
		all = append(all, Scheme{"sliding", r}, Scheme{"strict", r})
	}
	return all
}
