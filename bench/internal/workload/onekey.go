package workload

import (
	"fmt"
	"runtime"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/floor"
)

// calm is the time between two events of one limit that is never spent to more than a quarter and
// a bit: its bucket turns every 65,536 events.
const calm = tallyring.Tick(contender.Span) / tallyring.Tick(contender.Plenty/4)

const floorCAS = "floor-cas"

func oneKeyAllowed() (Workload, error) {
	return Workload{
		Bench: "OneKey/workload=allowed",
		Title: "One limit, allowed",
		About: "One goroutine decides on one limit of two buckets, at ticks that it gives; every " +
			"event is allowed.",
		Floor: floorCAS, Together: true,
		Entries: append(floorEntries(), singles(2, contender.Plenty)...),
	}, nil
}

func oneKeyDenied() (Workload, error) {
	return Workload{
		Bench:    "OneKey/workload=denied",
		Title:    "One limit, denied",
		About:    "The limit is spent; every event is denied. An attacked limit does this.",
		Floor:    floorCAS,
		Together: true,
		Entries:  append(floorEntries(), singles(2, contender.Few)...),
	}, nil
}

func oneKeySeven() (Workload, error) {
	return Workload{
		Bench: "OneKey/workload=seven",
		Title: "One limit of seven buckets, allowed",
		About: "As the first, at a finer resolution: seven buckets that fill one cache line. The " +
			"peers have no such resolution and do what they did before.",
		Floor: floorCAS, Together: true,
		Entries: append(floorEntries(), singles(7, contender.Plenty)...),
	}, nil
}

// floorEntries are the operations on one word.
func floorEntries() []Entry {
	word := floor.NewWord()
	return []Entry{
		{floorInfo("floor-add", "one atomic add"), func() (Trial, error) {
			return Trial{Run: func(_, _, events int) int { return word.Add(events) }}, nil
		}},
		casEntry(word),
	}
}

// casEntry is the floor of one key.
func casEntry(word floor.Word) Entry {
	return Entry{floorInfo(floorCAS, "one load, one compare-and-swap"), func() (Trial, error) {
		return Trial{Run: func(_, _, events int) int { return word.CAS(events) }}, nil
	}}
}

// singles are the limits without keys. Those that never deny are left out where all is denied.
func singles(slots int, limit contender.Limit) []Entry {
	var entries []Entry
	makers := append([]contender.SingleMaker{contender.Ring(slots)}, contender.Singles()...)
	for _, maker := range makers {
		if maker.Polite && limit == contender.Few {
			continue
		}
		entries = append(entries, Entry{maker.Info, func() (Trial, error) {
			return singleTrial(maker, limit)
		}})
	}
	return entries
}

// singleTrial gives a limit events that are one step apart, or none apart once it is spent.
func singleTrial(maker contender.SingleMaker, limit contender.Limit) (Trial, error) {
	single, err := maker.Make(limit)
	if err != nil {
		return Trial{}, err
	}
	step, denies := calm, limit == contender.Few
	if denies {
		step = 0
		fill := contender.Events{From: contender.Start, Count: int(limit)}
		if allowed := single.Decide(fill); allowed != fill.Count {
			return Trial{}, fmt.Errorf("allowed %d of the first %d events", allowed, fill.Count)
		}
	}
	run := func(_, first, events int) int {
		from := contender.Start + step*tallyring.Tick(first)
		return single.Decide(contender.Events{From: from, Step: step, Count: events})
	}
	return Trial{Run: run, Denies: denies, Close: func() error {
		return contender.Close(single)
	}}, nil
}

// sharedTrial is singleTrial for several workers. They take their ticks from one counter, a
// thousand at a time, since one that ran far ahead would make all events of the others late ones,
// which count in its bucket.
func sharedTrial(maker contender.SingleMaker) (Trial, error) {
	limit, step := contender.Plenty, calm
	if maker.DeniesLate {
		limit, step = contender.Boundless, 0
	}
	single, err := maker.Make(limit)
	if err != nil {
		return Trial{}, err
	}
	const some = 1024
	ticks := &tallyring.ManualClock{}
	ticks.Set(contender.Start)
	run := func(_, _, events int) (allowed int) {
		for done := 0; done < events; done += some {
			e := contender.Events{Step: step, Count: min(some, events-done)}
			span := step * tallyring.Tick(e.Count)
			e.From = ticks.Advance(time.Duration(span)) - span
			allowed += single.Decide(e)
		}
		return allowed
	}
	return Trial{Run: run, Close: func() error { return contender.Close(single) }}, nil
}

// hot is one limit that all processors decide on.
func hot() (Workload, error) {
	workers := processors()
	most := workers[len(workers)-1]
	entries := []Entry{
		{floorInfo("floor-private", "a compare-and-swap on a word of each goroutine's own"),
			func() (Trial, error) {
				words := make([]floor.Word, max(most, runtime.GOMAXPROCS(0)))
				for i := range words {
					words[i] = floor.NewWord()
				}
				return Trial{Run: func(worker, _, events int) int {
					return words[worker].CAS(events)
				}}, nil
			}},
		{floorInfo("floor-shared", "a compare-and-swap on one word, again until it succeeds"),
			func() (Trial, error) {
				word := floor.NewWord()
				return Trial{Run: func(_, _, events int) int {
					return word.CASUntilStored(events)
				}}, nil
			}},
	}
	makers := []contender.SingleMaker{contender.Ring(2), contender.Spread()}
	for _, maker := range append(makers, contender.Singles()...) {
		if maker.Serial {
			continue
		}
		entries = append(entries, Entry{maker.Info, func() (Trial, error) {
			return sharedTrial(maker)
		}})
	}
	return Workload{
		Bench: "Hot",
		Title: "One hot limit on all processors",
		About: "Each of several goroutines decides on the same limit, which is far from spent. " +
			"The figure is the time per decision of all together: half of it on two processors " +
			"means that they did not disturb each other.",
		Floor: "floor-private", Together: true, Apart: true, Workers: workers, Entries: entries,
	}, nil
}
