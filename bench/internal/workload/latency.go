package workload

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// watch times single decisions. Each figure holds one reading of the cycle clock, which is shown
// beside them as a contender of its own.
type watch struct {
	clock     tallyring.Clock
	histogram *hdrhistogram.Histogram
	rounds    [3][]float64 // p50, p99, p99.9 of each round
}

const clockAlone = "clock-alone"

func newWatch() *watch {
	const longestNanos, digits = int64(1e10), 3
	return &watch{clock: tallyring.Cycle(),
		histogram: hdrhistogram.New(1, longestNanos, digits)}
}

// decide times one decision.
func (w *watch) decide(
	c contender.Keyed, key []string, now tallyring.Tick,
) (allowed int, err error) {
	began := w.clock.Now()
	allowed = c.Decide(key, now)
	took := w.clock.Now() - began
	return allowed, w.histogram.RecordValue(max(int64(took), 1))
}

// endRound keeps the percentiles of a round.
func (w *watch) endRound() {
	for i, percentile := range []float64{50, 99, 99.9} {
		value := float64(w.histogram.ValueAtQuantile(percentile))
		w.rounds[i] = append(w.rounds[i], value)
	}
	w.histogram.Reset()
}

func (w *watch) latency() *Latency {
	return &Latency{Median(w.rounds[0]), Median(w.rounds[1]), Median(w.rounds[2])}
}

// result makes a result of a watch. Its Nanos are the p99 of each round, which text shows.
func (w *watch) result(info contender.Info, variant string, events int) Result {
	r := Result{Info: info, Workers: 1, Variant: variant, Latency: w.latency()}
	for range w.rounds[0] {
		r.Events = append(r.Events, events)
	}
	r.Nanos = w.rounds[1]
	return r
}

// idle is a contender that does nothing, so that its figures are the clock's.
type idle struct{}

func (idle) Decide(keys []string, _ tallyring.Tick) int { return len(keys) }

func clockMaker() contender.KeyedMaker {
	return contender.KeyedMaker{
		Info: floorInfo(clockAlone, "two readings of the clock and nothing between them"),
		Make: func(int, contender.Limit) (contender.Keyed, error) { return idle{}, nil },
	}
}

// latencySource times single decisions on many keys.
func latencySource(size Size) Source {
	bench := "Latency/keys=" + strconv.Itoa(size.Keys)
	return Source{bench, func() (Workload, error) {
		stream := uniformKeys(size.Keys)
		return Workload{
			Bench: bench,
			Title: "Single decisions on " + people(size.Keys) + " keys, given as text",
			About: "How long one decision takes, one reading of the cycle clock included: the " +
				"median, the slowest in a hundred, and in a thousand; each the median of " +
				strconv.Itoa(size.FloodRounds) + " rounds.",
			Measure: func(r *Runner) ([]Result, error) {
				var results []Result
				makers := append([]contender.KeyedMaker{clockMaker()}, contender.Keyeds()...)
				for _, maker := range makers {
					r.tell(bench, maker.Name)
					result, err := watchKeys(maker, stream, size)
					if err != nil {
						return nil, fmt.Errorf("%s: %w", maker.Name, err)
					}
					results = append(results, result)
					debug.FreeOSMemory()
				}
				return results, nil
			},
		}, nil
	}}
}

func watchKeys(maker contender.KeyedMaker, s *Stream, size Size) (Result, error) {
	keyed, err := maker.Make(len(s.Distinct), contender.Plenty)
	if err != nil {
		return Result{}, err
	}
	if n := keyed.Decide(s.Distinct, contender.Start); n != len(s.Distinct) {
		return Result{}, fmt.Errorf("allowed %d of %d new keys", n, len(s.Distinct))
	}
	runtime.GC()
	w := newWatch()
	for round := range size.FloodRounds {
		for i := range size.FloodEvents {
			at := (round*size.FloodEvents + i) % len(s.Keys)
			allowed, err := w.decide(keyed, s.Keys[at:at+1], contender.Start)
			if err != nil || allowed != 1 {
				return Result{}, fmt.Errorf("allowed %d of 1 event, error %v", allowed, err)
			}
		}
		w.endRound()
	}
	return w.result(maker.Info, "", size.FloodEvents), contender.Close(keyed)
}

const (
	floodPerEvent = 8      // new keys between two decisions that are timed
	floodRegulars = 10_000 // keys that are known
)

// floodSource is a table that is full, or a map that grows, and the decisions on keys that are
// known while new ones pour in.
func floodSource(size Size) Source {
	return Source{"Flood", func() (Workload, error) {
		return Workload{
			Bench: "Flood",
			Title: "A known key during a flood of new ones",
			About: "The engine's table of " + people(size.Cells) + " keys is full and denies all " +
				"new keys; the others take them in. Timed are decisions on known keys, between " +
				"which eight others are decided: on known keys without the flood, on new ones " +
				"with it. Rounds with and without it alternate.",
			Measure: func(r *Runner) ([]Result, error) {
				var results []Result
				for _, maker := range contender.Keyeds() {
					r.tell("Flood", maker.Name)
					pair, err := watchFlood(maker, size)
					if err != nil {
						return nil, fmt.Errorf("%s: %w", maker.Name, err)
					}
					results = append(results, pair...)
					debug.FreeOSMemory()
				}
				return results, nil
			},
		}, nil
	}}
}

func watchFlood(maker contender.KeyedMaker, size Size) ([]Result, error) {
	keyed, err := maker.Make(size.Cells, contender.Plenty)
	if err != nil {
		return nil, err
	}
	f := flood{keyed: keyed, isFull: maker.Kind == contender.Engine,
		random: rand.New(rand.NewPCG(13, 17))}
	if err := f.fill(size.Cells); err != nil {
		return nil, err
	}
	calm, flooded := newWatch(), newWatch()
	for range size.FloodRounds {
		if err := f.round(calm, f.known(size.FloodEvents*floodPerEvent), false); err != nil {
			return nil, err
		}
		if err := f.round(flooded, f.fresh(size.FloodEvents*floodPerEvent), true); err != nil {
			return nil, err
		}
	}
	return []Result{
		calm.result(maker.Info, "flood=no", size.FloodEvents),
		flooded.result(maker.Info, "flood=yes", size.FloodEvents),
	}, contender.Close(keyed)
}

// flood is one contender with the keys that it knows.
type flood struct {
	keyed    contender.Keyed
	isFull   bool // whether new keys are denied
	regulars []string
	given    int // keys ever made
	random   *rand.Rand
}

// fill gives the contender its regulars, and then three times as many keys as it has cells.
func (f *flood) fill(cells int) error {
	f.regulars = f.fresh(min(floodRegulars, cells/2))
	if n := f.keyed.Decide(f.regulars, contender.Start); n != len(f.regulars) {
		return fmt.Errorf("allowed %d of %d new keys", n, len(f.regulars))
	}
	f.keyed.Decide(f.fresh(3*cells), contender.Start)
	return nil
}

// fresh returns n keys that were never seen.
func (f *flood) fresh(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = keyText(f.given)
		f.given++
	}
	return keys
}

// known returns n regulars in random order.
func (f *flood) known(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = f.regulars[f.random.IntN(len(f.regulars))]
	}
	return keys
}

// round times a decision on a regular after every few of the others.
func (f *flood) round(w *watch, others []string, isFlood bool) error {
	events := len(others) / floodPerEvent
	timed := f.known(events)
	runtime.GC()
	allowedOthers := 0
	for i := range events {
		some := others[i*floodPerEvent : (i+1)*floodPerEvent]
		allowedOthers += f.keyed.Decide(some, contender.Start)
		allowed, err := w.decide(f.keyed, timed[i:i+1], contender.Start)
		if err != nil || allowed != 1 {
			return fmt.Errorf("allowed %d of 1 event of a known key, error %v", allowed, err)
		}
	}
	want := len(others)
	if isFlood && f.isFull {
		want = 0
	}
	if allowedOthers != want {
		return fmt.Errorf("allowed %d of %d events around it, want %d", allowedOthers,
			len(others), want)
	}
	w.endRound()
	return nil
}

// tell reports progress, if anyone listens.
func (r *Runner) tell(workload, contender string) {
	if r.Progress != nil {
		r.Progress(workload, contender)
	}
}
