package claims

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// bytesOf returns the bytes per key of a kind under a limit.
func bytesOf(s replay.Scheme, limit uint64, window time.Duration) (float64, error) {
	return lab.Kind{Scheme: s}.Bytes(lab.Plan{Limit: limit, Window: window})
}

func exactLogMemory() (Claim, error) {
	const limit, keys = 10_000, 1_000_000
	full, err := bytesOf(exactLog, limit, time.Hour)
	if err != nil {
		return Claim{}, err
	}
	ring, err := bytesOf(sliding2, limit, time.Hour)
	return Claim{
		Text: "A log of 10,000 per hour across a million keys can mean up to 10 billion timestamps",
		From: limiters, Run: "a log of the engine with 10,000 requests at ticks of their own",
		Figure: fmt.Sprintf("%s bytes for the one key, so %.0f GB for a million that are all "+
			"full; a ring of two buckets takes %.1f bytes a key, %.3f GB", grouped(int(full)),
			full*keys/1e9, ring,
			ring*keys/1e9),
		Verdict: verdict(full >= 8*limit),
		Because: "the log follows the limit; a ring does not",
	}, err
}

func twoBucketMemory() (Claim, error) {
	c := Claim{
		Text: "8n bytes per key and the newest index: 16 + 8 for two buckets", From: deepDive,
		Run: "the limiter's table, 100 per minute: bytes per key, the key and the free cells " +
			"included", Verdict: Conditional,
		Because: "two buckets share one word with their index, so that the key fits into what " +
			"the document counts without it; more buckets take 8n bytes and a line's rest, times " +
			"the share of cells that a table keeps free",
	}
	for n, r := range []replay.Resolution{1, 6, 60} {
		each, err := bytesOf(replay.Scheme{Name: "sliding", Resolution: r}, 100, time.Minute)
		if err != nil {
			return c, err
		}
		if n > 0 {
			c.Figure += "; "
		}
		claimed := 8*r.Slots() + 8
		c.Figure += fmt.Sprintf("n = %d: %.1f for %d", r.Slots(), each, claimed)
		if r == 1 && each > float64(claimed) {
			c.Verdict, c.Because = Contradicted, "more than that"
		}
	}
	return c, nil
}
