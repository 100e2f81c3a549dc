package workload

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/floor"
	"github.com/tallyring/tallyring/limiter"
)

const (
	windowsAllowedBench = "Windows/workload=allowed"
	windowsDeniedBench  = "Windows/workload=denied"
)

// windowsAllowed compares the engine's kinds of windows where they admit, with so many copies of
// each at most.
func windowsAllowed(most int) Workload {
	w := windows(func(maker contender.WindowMaker) func() (Trial, error) {
		return func() (Trial, error) { return windowAllowedTrial(maker, min(maker.Enough, most)) }
	})
	w.Bench = windowsAllowedBench
	w.Title = "Kinds of windows, one key, allowed"
	w.About = "One goroutine decides on one window of a minute, at ticks that it gives; a " +
		"quarter of the limit comes in each minute, so that buckets turn and events leave as " +
		"they do in service. Bytes are those of a window by itself, with its copy of the " +
		"layout and its padding: a key of a table takes less."
	return w
}

// windowsDenied compares them where they deny.
func windowsDenied() (Workload, error) {
	w := windows(func(maker contender.WindowMaker) func() (Trial, error) {
		return func() (Trial, error) { return windowDeniedTrial(maker) }
	})
	w.Bench = windowsDeniedBench
	w.Title = "Kinds of windows, one key, denied"
	w.Together = true
	w.About = "The same windows when they are spent, half of it by events of the last three " +
		"quarters of a minute, so that older buckets weigh; every event is denied, at one tick."
	return w, nil
}

func windows(trial func(contender.WindowMaker) func() (Trial, error)) Workload {
	w := Workload{Floor: floorCAS, Entries: []Entry{casEntry(floor.NewWord())}}
	for _, maker := range contender.Windows() {
		w.Entries = append(w.Entries, Entry{maker.Info, trial(maker)})
	}
	return w
}

// windowAllowedTrial decides on one window. Beside it stand copies, whose memory is measured.
func windowAllowedTrial(maker contender.WindowMaker, many int) (Trial, error) {
	single, err := maker.Make(maker.Limit)
	if err != nil {
		return Trial{}, err
	}
	copies, err := maker.Copies(many)
	if err != nil {
		return Trial{}, err
	}
	step := tallyring.Tick(contender.Span) / tallyring.Tick(maker.Limit/4)
	run := func(_, first, events int) int {
		from := contender.Start + step*tallyring.Tick(first)
		return single.Decide(contender.Events{From: from, Step: step, Count: events})
	}
	return Trial{Run: run, Keys: many, Close: func() error {
		runtime.KeepAlive(copies)
		return nil
	}}, nil
}

// windowDeniedTrial spends a window, and then asks for more.
func windowDeniedTrial(maker contender.WindowMaker) (Trial, error) {
	single, err := maker.Make(maker.Limit)
	if err != nil {
		return Trial{}, err
	}
	const quarter = tallyring.Tick(contender.Span) / 4
	before := contender.Events{From: contender.Start - quarter, Count: int(maker.Limit / 2)}
	before.Step = 3 * quarter / tallyring.Tick(before.Count)
	if allowed := single.Decide(before); allowed != before.Count {
		return Trial{}, fmt.Errorf("allowed %d of the first %d events", allowed, before.Count)
	}
	now := before.From + 3*quarter
	rest := contender.Events{From: now, Count: 2 * int(maker.Limit)}
	if allowed := single.Decide(rest); allowed == 0 {
		return Trial{}, errors.New("denied the second half of its limit")
	}
	return Trial{Denies: true, Run: func(_, _, events int) int {
		return single.Decide(contender.Events{From: now, Count: events})
	}}, nil
}

// comings is how often each key of the next workload comes in a window.
const comings = 4

// windowKeysSource compares the kinds of windows as the limiter holds them for many keys.
func windowKeysSource(n int) Source {
	bench := "WindowKeys/keys=" + strconv.Itoa(n)
	return Source{bench, func() (Workload, error) {
		hashes := randomHashes(n)
		keys := keysOf(hashes)
		w := Workload{
			Bench: bench,
			Title: "Kinds of windows, " + people(n) + " keys, hashed before",
			About: "One goroutine, keys in random order, each allowed " + strconv.Itoa(comings) +
				" times in each window, at ticks that are given: a coming in a fine ring also " +
				"turns its buckets. The log remembers all of them.",
			Floor: floorLines, Keys: n, Entries: []Entry{linesEntry(hashes, n)},
		}
		for _, maker := range contender.WindowKeys() {
			w.Entries = append(w.Entries, Entry{maker.Info, func() (Trial, error) {
				return windowKeysTrial(maker, keys)
			}})
		}
		return w, nil
	}}
}

// windowKeysTrial fills a window of the limiter and goes on as it was filled.
func windowKeysTrial(maker contender.HashedMaker, keys []limiter.Key) (Trial, error) {
	hashed, err := maker.Make(len(keys), contender.Few)
	if err != nil {
		return Trial{}, err
	}
	fill := comings * len(keys)
	step := tallyring.Tick(contender.Span) / tallyring.Tick(fill)
	run := func(_, first, events int) int {
		at := first
		return eachHash(keys, first, events, func(some []limiter.Key) int {
			now := contender.Start + step*tallyring.Tick(at)
			at += len(some)
			return hashed.Decide(some, now)
		})
	}
	if allowed := run(0, 0, fill); allowed != fill {
		return Trial{}, fmt.Errorf("allowed %d of the first %d events", allowed, fill)
	}
	return Trial{Run: func(worker, first, events int) int {
		return run(worker, fill+first, events)
	}}, nil
}
