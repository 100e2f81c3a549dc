package claims

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/tallyring/tallyring"
)

// The crowd is independent clients by Zipf's law: the k-th busiest sends 1/k of what the busiest
// does, each at times of its own, without any pattern.
const (
	crowdSources = 20_000
	crowdBusiest = 95_000 // requests of the busiest
	crowdWindows = 60
	quoted       = 0.003 / 100
)

// crowdLimits are the limits that the crowd is measured at, per minute.
var crowdLimits = []uint64{5, 10, 20, 50, 100, 200, 500, 1000, 1500, 1600, 1700, 2000}

// atLimit is what two buckets got wrong at one limit, every request counted.
type atLimit struct {
	limit       uint64
	over, wrong int
	nearest     float64 // how near the mean of a source comes to the limit, in roots of it
}

// crowd runs all of it once, for all limits.
func crowd() (requests int, limits []atLimit, err error) {
	for _, limit := range crowdLimits {
		limits = append(limits, atLimit{limit: limit, nearest: math.Inf(1)})
	}
	r := rand.New(rand.NewPCG(1, 1))
	var ticks []tallyring.Tick
	for k := range crowdSources {
		ticks = ticks[:0]
		for range crowdBusiest / (k + 1) {
			at := r.Int64N(crowdWindows * int64(time.Minute))
			ticks = append(ticks, noon+tallyring.Tick(at))
		}
		slices.Sort(ticks)
		requests += len(ticks)
		if err := judge(ticks, limits); err != nil {
			return 0, nil, err
		}
	}
	return requests, limits, nil
}

// judge counts the requests of one source, and what two buckets get wrong about each.
func judge(ticks []tallyring.Tick, limits []atLimit) error {
	c, err := sliding2.Counter(time.Minute, 1, crowdBusiest)
	if err != nil {
		return err
	}
	mean := float64(len(ticks)) / crowdWindows
	for n := range limits {
		l := &limits[n]
		limit := float64(l.limit)
		l.nearest = min(l.nearest, math.Abs(mean-limit)/math.Sqrt(limit))
	}
	tail := 0
	for i, t := range ticks {
		for ticks[tail] <= t-tallyring.Tick(time.Minute) {
			tail++
		}
		c.Add(t, 1)
		for n := range limits {
			l := &limits[n]
			over := uint64(i-tail+1) > l.limit
			if over {
				l.over++
			}
			if c.Allow(t, 0, l.limit) == over {
				l.wrong++
			}
		}
	}
	return nil
}

func inAggregate() (Claim, error) {
	requests, limits, err := crowd()
	if err != nil {
		return Claim{}, err
	}
	var hold, figures []string
	farthest, nearest := math.Inf(1), 0.0 // of the limits where it holds, and where it does not
	for _, l := range limits {
		share := float64(l.wrong) / float64(requests)
		figures = append(figures, fmt.Sprintf("%d: %.4f %%", l.limit, 100*share))
		if share <= quoted {
			hold = append(hold, fmt.Sprintf("%d", l.limit))
			farthest = min(farthest, l.nearest)
		} else {
			nearest = max(nearest, l.nearest)
		}
	}
	c := Claim{
		Text: "Across 400 million requests, only about 0.003 % were wrongly allowed or limited",
		From: limiters,
		Run: fmt.Sprintf("two buckets, every request counted: %s requests of %s independent "+
			"clients by Zipf's law in an hour, at %d limits per minute", grouped(requests),
			grouped(crowdSources), len(limits)),
		Figure: "wrong per request at " + strings.Join(figures, ", "), Verdict: Conditional,
		Because: fmt.Sprintf("0.003 %% or less holds here at %s alone: where no client's mean "+
			"comes nearer to the limit L than %.1f times sqrt(L), by which its count varies (at "+
			"every other limit one comes within %.1f). Neither the limits nor the traffic behind "+
			"the quoted figure were published, so whether it holds there cannot be checked; per "+
			"request it says how few requests are of clients near their limit, not how good the "+
			"window is",
			strings.Join(hold, ", "), farthest, nearest),
	}
	if len(hold) == 0 || farthest <= nearest {
		c.Verdict, c.Because = Unknowable, "no condition was found under which it holds, and "+
			"neither limits nor traffic were published"
	}
	return c, nil
}
