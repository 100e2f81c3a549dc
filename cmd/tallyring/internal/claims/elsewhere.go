package claims

import (
	"fmt"
	"math"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
	"github.com/tallyring/tallyring/exphist"
)

// exponential asks of each estimate of a histogram how far it is off, and of three sizes how many
// bits they take.
func exponential() (Claim, error) {
	const eps = 0.05
	c := Claim{
		Text: "An exponential histogram takes O(log² N) bits for counts over the last N items, " +
			"and its relative error is bounded", From: deepDive,
		Run: fmt.Sprintf("exphist, error %v: the four mixes, 100 per minute, every request "+
			"counted; and the bits for N events", eps),
		Because: "the bits follow log² N with a factor of about 1/(2 error); a few words come " +
			"on top",
	}
	most := 0.0
	for _, kind := range mix.Kinds {
		e, err := mixedEvents(kind)
		if err != nil {
			return c, err
		}
		plan := lab.Plan{Limit: 100, Window: time.Minute, Epsilons: []float64{eps}}
		f, err := lab.Run(e, plan, nil)
		if err != nil {
			return c, err
		}
		for _, o := range f.Outcomes {
			if o.Name == "exphist" {
				most = max(most, o.Open.LargestAbove, o.Open.LargestBelow)
			}
		}
	}
	c.Figure = fmt.Sprintf("off by %.2f %% at most", 100*most)
	least, largest := math.Inf(1), 0.0
	for _, log := range []int{10, 20, 40} {
		h, err := exphist.NewEvents(1<<log, eps, 1<<log)
		if err != nil {
			return c, err
		}
		factor := float64(h.Bits()) / float64(log*log)
		least, largest = min(least, factor), max(largest, factor)
		c.Figure += fmt.Sprintf("; N = 2^%d: %d bits, %.1f log² N", log, h.Bits(), factor)
	}
	c.Verdict = verdict(most > 0 && most <= eps && largest <= 2*least)
	return c, nil
}

func nanoseconds() (Claim, error) {
	return Claim{
		Text: "allow() takes about 2 ns with n = 2 or 8, and 5 ns with n = 60, on an Apple M4 Pro",
		From: deepDive, Run: "nothing: time is not what this laboratory measures",
		Figure: "none", Verdict: Unknowable,
		Because: "a figure of one processor, and of a ring that is not shared; `go run ./bench` " +
			"measures the engine on the machine it runs on, beside the bare memory operations",
	}, nil
}
