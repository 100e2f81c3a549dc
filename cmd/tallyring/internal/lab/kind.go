package lab

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// Kind is one kind of window.
type Kind struct {
	replay.Scheme         // its Name is "log", "fixed", "sliding", "strict", "exphist" or "gcra"
	Epsilon       float64 // the relative error that an exphist allows itself; 0 for others
}

// Slots returns the slots of a ring, and 0 for what is none.
func (k Kind) Slots() int {
	switch k.Name {
	case "fixed", "sliding", "strict":
		return k.Scheme.Slots()
	}
	return 0
}

// String names the kind with what tells it from others of its name, such as "sliding 7".
func (k Kind) String() string {
	switch {
	case k.Resolution > 0:
		return fmt.Sprint(k.Name, " ", k.Slots())
	case k.Epsilon > 0:
		return fmt.Sprint(k.Name, " ", k.Epsilon)
	}
	return k.Name
}

// Plan says what is measured.
type Plan struct {
	Limit       uint64        // at least 1
	Window      time.Duration // more than 0
	Resolutions []replay.Resolution
	Epsilons    []float64 // of the exponential histograms
}

// Kinds returns the kinds in the order of the findings: the exact log, the fixed window, the
// sliding and the strict rings, and what is no ring.
func (p Plan) Kinds() []Kind {
	kinds := []Kind{{Scheme: replay.Scheme{Name: "log"}}, {Scheme: replay.Scheme{Name: "fixed"}}}
	for _, name := range []string{"sliding", "strict"} {
		for _, r := range p.Resolutions {
			kinds = append(kinds, Kind{Scheme: replay.Scheme{Name: name, Resolution: r}})
		}
	}
	return append(kinds, p.others()...)
}

// rings is the part of the plan that replay knows.
func (p Plan) rings() replay.Plan {
	return replay.Plan{Limit: p.Limit, Window: p.Window, Resolutions: p.Resolutions}
}

// Validate returns nil, or an error that names the value that is wrong and what would be right.
func (p Plan) Validate() error {
	if err := p.rings().Validate(); err != nil {
		return err
	}
	for _, k := range p.Kinds() {
		scale, err := replay.ScaleOf(k.Resolution, p.Window)
		if err != nil {
			return err
		}
		if _, err := k.open(p, scale, p.Limit); err != nil {
			return err
		}
	}
	return nil
}
