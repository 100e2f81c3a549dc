package claims

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// noon is 12:00:00 of a day in Unix time: a turn of every window of whole seconds that divides it.
const noon = tallyring.Tick(12 * time.Hour)

// sliding2 and strict2 are the rings of two slots.
var (
	exactLog = replay.Scheme{Name: "log"}
	fixed    = replay.Scheme{Name: "fixed"}
	sliding2 = replay.Scheme{Name: "sliding", Resolution: 1}
	strict2  = replay.Scheme{Name: "strict", Resolution: 1}
)

// admits returns how many of so many requests at each time past noon pass a limit of 100 a minute.
func admits(s replay.Scheme, requests int, times ...time.Duration) (admitted int, err error) {
	c, err := s.Counter(time.Minute, 1, 100)
	if err != nil {
		return 0, err
	}
	for _, at := range times {
		for range requests {
			if c.Allow(noon+tallyring.Tick(at), 1, 100) {
				admitted++
			}
		}
	}
	return admitted, nil
}

// burstFigures is admits for four windows: the text, and the figure of the fixed window.
func burstFigures(requests int, times ...time.Duration) (text string, fixedAdmits int, err error) {
	for _, s := range []replay.Scheme{fixed, exactLog, sliding2, strict2} {
		n, err := admits(s, requests, times...)
		if err != nil {
			return "", 0, err
		}
		if s == fixed {
			fixedAdmits = n
			text = fmt.Sprintf("%d through the fixed window", n)
			continue
		}
		text += fmt.Sprintf(", %d through %s", n, lab.Kind{Scheme: s})
	}
	return text, fixedAdmits, nil
}

func boundaryBurst() (Claim, error) {
	text, n, err := burstFigures(100, 59*time.Second, 60*time.Second)
	return Claim{
		Text: "A fixed window of 100 per minute admits 200 requests in 2 seconds", From: limiters,
		Run:    "100 requests at 12:00:59, and 100 at 12:01:00",
		Figure: text, Verdict: verdict(n == 200),
		Because: "the two bursts fall into two windows; the other windows know better",
	}, err
}

func bothSides() (Claim, error) {
	text, n, err := burstFigures(100, 58*time.Second, 62*time.Second)
	return Claim{
		Text: "100 requests at 12:00:58 and 100 at 12:01:02: 200 get through a fixed window",
		From: limiters, Run: "just that", Figure: text, Verdict: verdict(n == 200),
		Because: "as above; the sliding ring has let 2 s of the first burst expire that are not " +
			"60 s old",
	}, err
}

// verdict is Reproduced or not.
func verdict(ok bool) Verdict {
	if ok {
		return Reproduced
	}
	return Contradicted
}

// claimedResolutions are those that the claims are run at: 2, 3, 7 and 61 slots, and two between.
var claimedResolutions = []replay.Resolution{1, 2, 6, 12, 30, 60}

// mixed measures all windows of 100 per minute on one kind of client.
func mixed(kind mix.Kind) (lab.Findings, error) {
	e, err := mixedEvents(kind)
	if err != nil {
		return lab.Findings{}, err
	}
	plan := lab.Plan{Limit: 100, Window: time.Minute, Resolutions: claimedResolutions}
	return lab.Run(e, plan, nil)
}

// mixedEvents are 4 clients of a kind, over an hour.
func mixedEvents(kind mix.Kind) (*replay.Events, error) {
	return mix.Events(mix.Params{
		Kinds: []mix.Kind{kind}, Clients: 4, Windows: 60, Load: 100, Seed: 1,
		Limit: 100, Window: time.Minute,
	})
}

func fixedDoubles() (Claim, error) {
	f, err := mixed("adversary")
	if err != nil {
		return Claim{}, err
	}
	ok := true
	text := ""
	for _, o := range f.Outcomes {
		worst := float64(o.Closed.WorstTrailing) / 100
		switch o.Name {
		case "fixed":
			ok = ok && worst == 2
		case "sliding":
			ok = ok && worst > 1.9 && worst <= 2
		case "gcra": // a full bucket, and what refills meanwhile
			ok = ok && worst <= 2
		default:
			ok = ok && worst <= 1
			continue
		}
		text += fmt.Sprintf("%s %.2f, ", o.Kind, worst)
	}
	return Claim{
		Text: "A fixed window admits up to twice the limit around a boundary, and a burst at one " +
			"end of a bucket is the worst case of a ring",
		From: bothPages,
		Run: "the adversary, 100 per minute: the most admitted requests in any minute, in " +
			"limits",
		Figure: text + "strict rings and the log at most 1.00", Verdict: verdict(ok),
		Because: "and it is as true of interpolated rings, at any number of slots: the last " +
			"instant of a bucket is weighed as if it were spread over all of it",
	}, nil
}
