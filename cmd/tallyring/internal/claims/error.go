package claims

import (
	"fmt"
	"math"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// reading is one reading of a ring, and the true count.
type reading struct {
	tallyring.Reading
	truth float64
}

// readings gives a ring of a resolution every request of the events, and tells each the reading
// after a request.
func readings(e *replay.Events, r replay.Resolution, each func(reading)) error {
	index := e.Index()
	for key := range e.Keys() {
		ticks := e.AppendTicks(nil, index.Of(key))
		s := replay.Scheme{Name: "sliding", Resolution: r}
		c, err := s.Counter(time.Minute, 1, uint64(len(ticks)))
		if err != nil {
			return err
		}
		tail := 0
		for i, t := range ticks {
			for ticks[tail] <= t-tallyring.Tick(time.Minute) {
				tail++
			}
			c.Add(t, 1)
			each(reading{c.Read(t), float64(i - tail + 1)})
		}
	}
	return nil
}

func oldestBucket() (Claim, error) {
	seen, beyond, most := 0, 0, 0.0
	for _, kind := range mix.Kinds {
		e, err := mixedEvents(kind)
		if err != nil {
			return Claim{}, err
		}
		for _, r := range claimedResolutions {
			err := readings(e, r, func(got reading) {
				seen++
				oldest := float64(got.High - got.Low)
				off := math.Abs(got.Estimate - got.truth)
				if off > oldest || got.truth < float64(got.Low) || got.truth > float64(got.High) {
					beyond++
				}
				if oldest > 0 {
					most = max(most, off/oldest)
				}
			})
			if err != nil {
				return Claim{}, err
			}
		}
	}
	return Claim{
		Text: "The error is at most the oldest bucket's count", From: deepDive,
		Run: "every request of the steady, bursty, retrying and adversary mix, 100 per minute, " +
			"at 2 to 61 slots",
		Figure: fmt.Sprintf("of %s estimates %s were further off than that; the furthest by %.3f "+
			"of the oldest bucket", grouped(seen), grouped(beyond), most),
		Verdict: verdict(beyond == 0 && seen > 0),
		Because: "the bound is sharp: who sends at the end of a bucket comes as near to it as he " +
			"likes",
	}, nil
}

// smooth returns, for a ring read after each request of a client with 600 requests a minute, the
// means of the oldest bucket's share of the true count and of the estimate's difference.
func smooth(r replay.Resolution) (oldest, difference float64, err error) {
	e := replay.NewEvents(replay.ByClient)
	const gap = tallyring.Tick(time.Minute) / 600
	for n := range tallyring.Tick(600 * 20) {
		if err := e.Add(noon+n*gap, "smooth", "", ""); err != nil {
			return 0, 0, err
		}
	}
	seen, all := 0, 0
	err = readings(e, r, func(got reading) {
		if all++; all <= 1200 { // until the window and the ring are full
			return
		}
		seen++
		oldest += float64(got.High-got.Low) / got.truth
		difference += math.Abs(got.Estimate-got.truth) / got.truth
	})
	return oldest / float64(seen), difference / float64(seen), err
}

func smoothTraffic() (Claim, error) {
	c := Claim{
		Text: "With smooth traffic and n buckets the bound is of order 1/(n-1) of the window's " +
			"total",
		From: deepDive,
		Run: "one client, a request each 100 ms, read after each: the oldest bucket's share of " +
			"the true count, times n-1",
		Because: "so much for the bound; where the traffic is that smooth, the estimate itself " +
			"is off by far less, since it assumes just that",
	}
	ok, worst := true, 0.0
	for _, r := range claimedResolutions {
		share, difference, err := smooth(r)
		if err != nil {
			return c, err
		}
		product := share * float64(r)
		ok = ok && product > 0.9 && product < 1.1
		worst = max(worst, difference)
		c.Figure += fmt.Sprintf("n = %d: %.3f; ", r.Slots(), product)
	}
	c.Figure += fmt.Sprintf("the estimates are off by %.2f %% in the mean, at most", 100*worst)
	c.Verdict = verdict(ok)
	return c, nil
}

func fewEventsOff() (Claim, error) {
	c := Claim{
		Text: "Weighted estimates can be a few events off in either direction", From: deepDive,
		Run: "two buckets, 100 per minute, each mix: the largest error of the estimate in " +
			"events, below and above the true count", Verdict: Conditional,
		Because: "a few where traffic is steady; a whole limit, or more, where it is not",
	}
	steady, worst := 0.0, 0.0
	for n, kind := range mix.Kinds {
		e, err := mixedEvents(kind)
		if err != nil {
			return c, err
		}
		below, above := 0.0, 0.0
		err = readings(e, 1, func(got reading) {
			below = max(below, got.truth-got.Estimate)
			above = max(above, got.Estimate-got.truth)
		})
		if err != nil {
			return c, err
		}
		if kind == "steady" {
			steady = max(below, above)
		}
		worst = max(worst, below, above)
		if n > 0 {
			c.Figure += "; "
		}
		c.Figure += fmt.Sprintf("%s -%.1f, +%.1f", kind, below, above)
	}
	if steady > 20 || worst < 90 {
		c.Verdict, c.Because = Contradicted, "not even where traffic is steady, or everywhere"
	}
	return c, nil
}
