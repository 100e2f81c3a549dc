package claims

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// weighted returns the estimate at 12:01:15 and the true count of the last minute, where the 84
// requests of the previous minute came at the given parts of it, 0 to 1, and whether one more
// request passes a limit of 100.
func weighted(part func(i int) float64) (estimate float64, truth int, allowed bool, err error) {
	c, err := sliding2.Counter(time.Minute, 1, 200)
	if err != nil {
		return 0, 0, false, err
	}
	const minute = tallyring.Tick(time.Minute)
	now := noon + minute + minute/4
	add := func(at tallyring.Tick) {
		c.Add(at, 1)
		if at > now-minute {
			truth++
		}
	}
	for i := range 84 {
		add(noon + tallyring.Tick(part(i)*float64(minute-1)))
	}
	for i := range tallyring.Tick(30) {
		add(noon + minute + i*tallyring.Tick(time.Second)/2)
	}
	return c.Read(now).Estimate, truth, c.Allow(now, 1, 100), nil
}

func weightedExample() (Claim, error) {
	c := Claim{
		Text: "84 requests in the previous minute and 30 in this one: at 12:01:15 the estimate " +
			"is 93 of 100, and a request is allowed", From: limiters,
		Run: "two buckets, with the 84 spread evenly, all at the start, and all at the end of " +
			"their minute", Verdict: Conditional,
		Because: "the estimate is 93 whatever happens, and true if the 84 were spread evenly; " +
			"the true count may be anything from 30 to 114, and the last of these should be denied",
	}
	ok := true
	for _, way := range []struct {
		name  string
		truth int
		part  func(i int) float64
	}{
		{"evenly", 93, func(i int) float64 { return (float64(i) + 0.5) / 84 }},
		{"start", 30, func(int) float64 { return 0 }},
		{"end", 114, func(int) float64 { return 1 }},
	} {
		estimate, truth, allowed, err := weighted(way.part)
		if err != nil {
			return c, err
		}
		ok = ok && estimate == 93 && allowed && truth == way.truth
		if c.Figure != "" {
			c.Figure += "; "
		}
		c.Figure += fmt.Sprintf("%s: estimate %g, true count %d", way.name, estimate, truth)
		if allowed {
			c.Figure += ", allowed"
		}
	}
	if !ok {
		c.Verdict, c.Because = Contradicted, "the figures are not these"
	}
	return c, nil
}

// step is one line of the document's program: what came out, and what it says should.
type step struct{ got, want float64 }

func codeExamples() (Claim, error) {
	var steps []step
	for _, part := range []func() ([]step, error){weighting, twoBuckets, lateEvents} {
		more, err := part()
		if err != nil {
			return Claim{}, err
		}
		steps = append(steps, more...)
	}
	right := 0
	for _, s := range steps {
		if s.got == s.want {
			right++
		}
	}
	return Claim{
		Text:    "The examples of the program: weights, two buckets at a boundary, late events",
		From:    deepDive,
		Run:     "each assertion of the program's main function on the engine's rings",
		Figure:  fmt.Sprintf("%d of %d hold", right, len(steps)),
		Verdict: verdict(right == len(steps)), Because: "to the last digit",
	}, nil
}

// ring is a ring of n slots, b nanoseconds each.
func ring(n int, b time.Duration) (*atomicring.Ring, error) {
	return atomicring.NewFor(tallyring.Window{Slots: n, Width: b}, 100)
}

func weighting() (steps []step, err error) {
	c, err := ring(4, 64)
	if err != nil {
		return nil, err
	}
	// The program has buckets of 10 ns; the engine's begin at 18, so all its times are 6.4-fold.
	for _, t := range []tallyring.Tick{32, 96, 160, 224} {
		c.Add(t, 8)
	}
	return []step{
		{c.Estimate(224), 24 + 8*0.5}, {c.Estimate(256), 24}, {c.Estimate(6400), 0},
	}, nil
}

func twoBuckets() (steps []step, err error) {
	l, err := ring(2, 1000)
	if err != nil {
		return nil, err
	}
	allow := func(now tallyring.Tick, want float64) {
		got := 0.0
		if l.Allow(now, 1, 10) {
			got = 1
		}
		steps = append(steps, step{got, want})
	}
	for range 10 {
		allow(999, 1)
	}
	allow(1000, 0)
	for range 5 {
		allow(1500, 1)
	}
	allow(1500, 0)
	return steps, nil
}

func lateEvents() (steps []step, err error) {
	c, err := ring(3, 64)
	if err != nil {
		return nil, err
	}
	c.Add(160, 1)
	c.Add(96, 1)
	c.Add(32, 1)
	steps = append(steps, step{c.Estimate(160), 1 + 1 + 0.5})
	c.Add(224, 1)
	c.Add(32, 1)
	return append(steps, step{c.Estimate(224), 1 + 1 + 0.5}), nil
}
