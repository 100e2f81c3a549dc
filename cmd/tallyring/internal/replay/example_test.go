package replay_test

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// A client that sends its whole limit around the turn of a fixed window gets it twice there.
func ExampleRun() {
	events := replay.NewEvents(replay.ByClient)
	for _, second := range []int64{58, 58, 59, 60, 60, 61} {
		tick := tallyring.Tick(second * int64(time.Second))
		if err := events.Add(tick, "192.0.2.7", "/login", "curl"); err != nil {
			fmt.Println(err)
		}
	}
	events.Sort()
	plan := replay.Plan{Limit: 3, Window: time.Minute, Resolutions: []replay.Resolution{6}}
	result, err := replay.Run(events, plan, 1, nil)
	if err != nil {
		fmt.Println(err)
	}
	for _, o := range result.Outcomes {
		fmt.Println(o.Name, o.Slots(), "denied", o.Denied, "worst", o.WorstTrailing)
	}
	// Output:
	// log 0 denied 3 worst 3
	// fixed 1 denied 0 worst 6
	// sliding 7 denied 3 worst 3
	// strict 7 denied 3 worst 3
}
