package workload

import (
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// churn gives contenders nothing but new keys, at such a pace that those still in the window always
// fit the engine's table.
func churn(cells int) Workload {
	w := Workload{
		Bench: "Churn",
		Title: "Every key is new",
		About: "Each event has a key that was never seen before, and time moves on so that a " +
			"table of " + people(cells) + " keys suffices: the engine reuses cells in place. " +
			"Contenders that forget nothing by themselves grow.",
	}
	for _, maker := range contender.Keyeds() {
		if maker.Kind == contender.Engine && maker.Clock {
			continue // real time does not move on as fast
		}
		w.Entries = append(w.Entries, Entry{maker.Info, func() (Trial, error) {
			return churnTrial(maker, cells)
		}})
	}
	return w
}

func churnTrial(maker contender.KeyedMaker, cells int) (Trial, error) {
	keyed, err := maker.Make(cells, contender.Plenty)
	if err != nil {
		return Trial{}, err
	}
	step := tallyring.Tick(contender.Span) / tallyring.Tick(cells/4)
	var keys []string
	return Trial{
		Before: func(first, events int) {
			keys = keys[:0]
			for i := range events {
				keys = append(keys, keyText(first+i))
			}
		},
		Run: func(_, first, events int) (allowed int) {
			for done := 0; done < events; {
				n := min(events-done, chunk/4)
				now := contender.Start + step*tallyring.Tick(first+done)
				allowed += keyed.Decide(keys[done:done+n], now)
				done += n
			}
			return allowed
		},
		Close: func() error { return contender.Close(keyed) },
	}, nil
}
