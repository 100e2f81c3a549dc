package lab_test

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// Who knows the turn of the buckets gets almost twice the limit through an interpolated ring.
func ExampleRun() {
	events, err := mix.Events(mix.Params{
		Kinds: []mix.Kind{"adversary"}, Clients: 1, Windows: 4, Load: 100, Seed: 1,
		Limit: 100, Window: time.Minute,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := lab.Plan{Limit: 100, Window: time.Minute, Resolutions: []replay.Resolution{6}}
	f, err := lab.Run(events, plan, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range f.Outcomes {
		fmt.Println(o.Kind, "wrong allow", o.Closed.WrongAllow, "worst", o.Closed.WorstTrailing)
	}
	// Output:
	// log wrong allow 0 worst 100
	// fixed wrong allow 100 worst 200
	// sliding 7 wrong allow 99 worst 199
	// strict 7 wrong allow 0 worst 100
	// gcra wrong allow 99 worst 199
}
