package claims

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
)

// retryAtBoundary asks of every denial whether the next turn of a bucket would have been late
// enough.
func retryAtBoundary() (Claim, error) {
	denied, again := 0, 0
	for _, kind := range mix.Kinds {
		e, err := mixedEvents(kind)
		if err != nil {
			return Claim{}, err
		}
		index := e.Index()
		for key := range e.Keys() {
			r, err := ring(2, time.Minute)
			if err != nil {
				return Claim{}, err
			}
			for _, t := range e.AppendTicks(nil, index.Of(key)) {
				d := r.Take(t, 1, 100)
				if d.Allowed {
					continue
				}
				denied++
				turn := tallyring.Tick(time.Minute) - t%tallyring.Tick(time.Minute)
				if !r.Allow(t+turn, 0, 99) {
					again++
				}
				if tallyring.Tick(d.RetryAfter) > turn != !r.Allow(t+turn, 0, 99) {
					return Claim{}, fmt.Errorf("claims: RetryAfter %v at tick %d contradicts the "+
						"ring",
						d.RetryAfter, t)
				}
			}
		}
	}
	c := Claim{
		Text: "Retry-After: the time to the next bucket boundary is a simple, conservative answer",
		From: deepDive,
		Run: "two buckets, 100 per minute, the four mixes: of each denied request, whether the " +
			"next boundary would be late enough",
		Figure: fmt.Sprintf("of %s denials, %s (%.1f %%) would be denied again there",
			grouped(denied), grouped(again),
			100*float64(again)/float64(denied)),
		Verdict: Contradicted,
		Because: "simple, but not conservative: at the boundary the bucket that was current " +
			"becomes the previous one and weighs all it has, so a client that filled it is " +
			"denied again. It holds where the previous bucket alone was in the way. The engine's " +
			"RetryAfter is exact",
	}
	if again == 0 {
		c.Verdict, c.Because = Reproduced, "no denial was in the way of its own retry"
	}
	return c, nil
}
