package report

import (
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/workload"
)

// Loss is a figure in which something else is better than the engine.
type Loss struct {
	Title, Figure      string
	Ours, Other        string // contenders
	OurValue, HisValue float64
	Unit               string
	Kind               contender.Kind // of the other
	IsClear            bool           // whether the intervals of both medians lie apart
}

// Times is how many times the engine's value is that of the other.
func (l Loss) Times() float64 { return l.OurValue / l.HisValue }

// figureOf is one figure of a result: its median, and the bounds of that.
type figureOf struct {
	name, unit string
	of         func(r workload.Result) (value, low, high float64, ok bool)
}

var figures = []figureOf{
	{"time", "ns", func(r workload.Result) (float64, float64, float64, bool) {
		low, high := workload.Interval(r.Nanos)
		return workload.Median(r.Nanos), low, high, r.Latency == nil && len(r.Nanos) > 0
	}},
	{"p99", "ns", func(r workload.Result) (float64, float64, float64, bool) {
		low, high := workload.Interval(r.Nanos)
		return workload.Median(r.Nanos), low, high, r.Latency != nil
	}},
	{"p99.9", "ns", func(r workload.Result) (float64, float64, float64, bool) {
		if r.Latency == nil {
			return 0, 0, 0, false
		}
		return r.Latency.P999, r.Latency.P999, r.Latency.P999, true
	}},
	{"memory", "B/key", func(r workload.Result) (float64, float64, float64, bool) {
		return r.ProcessPerKey, r.ProcessPerKey, r.ProcessPerKey, r.ProcessPerKey > 0
	}},
	{"allocations", "per decision", func(r workload.Result) (float64, float64, float64, bool) {
		return r.AllocsPerEvent, r.AllocsPerEvent, r.AllocsPerEvent, r.Latency == nil
	}},
}

// Losses returns, for each workload, number of workers, variant and figure, whatever is better than
// the best of the engine's contenders. Floors are left out: nothing beats them, and each workload
// shows how far away they are.
func Losses(measured []workload.Measured) (losses []Loss) {
	for _, m := range measured {
		type group struct {
			workers int
			variant string
		}
		groups := map[group][]workload.Result{}
		var order []group
		for _, r := range m.Results {
			g := group{r.Workers, r.Variant}
			if groups[g] == nil {
				order = append(order, g)
			}
			groups[g] = append(groups[g], r)
		}
		for _, g := range order {
			title := m.Title + parts(g.workers, g.variant)
			for _, f := range figures {
				losses = append(losses, lossesOf(title, f, groups[g])...)
			}
		}
	}
	return losses
}

func lossesOf(title string, f figureOf, results []workload.Result) (losses []Loss) {
	ours, best, bestLow, found := "", 0.0, 0.0, false
	for _, r := range results {
		value, low, _, ok := f.of(r)
		if r.Kind == contender.Engine && ok && (!found || value < best) {
			ours, best, bestLow, found = r.Name, value, low, true
		}
	}
	for _, r := range results {
		value, _, high, ok := f.of(r)
		isOther := r.Kind == contender.Peer || r.Kind == contender.Baseline
		if found && ok && isOther && value < best {
			losses = append(losses, Loss{title, f.name, ours, r.Name, best, value, f.unit, r.Kind,
				high < bestLow})
		}
	}
	return losses
}
