package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/workload"
)

// plot is rows of dots on one logarithmic axis. Positions are percentages of the width, so that the
// same page fits every screen.
type plot struct {
	Title, Unit string
	Ticks       []tick
	Rows        []row
}

type tick struct{ At, Text, Anchor string }

type row struct {
	Class, Name, Note string
	At                string
	From, To          string // of the interval; empty where there is none
	Tails             []string
	Value, Beside     string

	value, low, high float64
	tails            []float64
	paired           bool // whether it stands beside another row of the same contender
}

// plots returns what is drawn of a workload: one plot for each number of workers, and one for the
// memory where that was measured.
func plots(m workload.Measured) (list []plot) {
	var order []int
	byWorkers := map[int][]row{}
	var memory []row
	for _, r := range m.Results {
		if byWorkers[r.Workers] == nil {
			order = append(order, r.Workers)
		}
		byWorkers[r.Workers] = append(byWorkers[r.Workers], timeRow(r))
		if r.ProcessPerKey > 0 {
			memory = append(memory, row{
				Class: r.Kind.String(), Name: r.Name, Note: r.Note, value: r.ProcessPerKey,
				low: r.ProcessPerKey, high: r.ProcessPerKey, Value: figure(r.ProcessPerKey),
				Beside: "heap " + figure(r.HeapPerKey),
			})
		}
	}
	for _, workers := range order {
		title := ""
		if len(order) > 1 {
			title = fmt.Sprintf("%d goroutine%s", workers, strings.Repeat("s", min(workers-1, 1)))
		}
		rows := sorted(byWorkers[workers])
		list = append(list, placed(plot{Title: title, Unit: unitOf(m), Rows: rows}))
	}
	if len(memory) > 0 {
		list = append(list, placed(plot{
			Title: "Memory of the process, without the text of the keys", Unit: "B per key",
			Rows: sorted(memory),
		}))
	}
	return list
}

// unitOf says what the figures of a workload are.
func unitOf(m workload.Measured) string {
	for _, r := range m.Results {
		if r.Latency != nil {
			return "p50 · p99 · p99.9, ns"
		}
	}
	return "ns"
}

// sorted puts floors first, and the fastest of the others next. Rows that stand in pairs stay so.
func sorted(rows []row) []row {
	slices.SortStableFunc(rows, func(a, b row) int {
		switch {
		case a.paired || b.paired:
			return 0
		case a.Class != b.Class && a.Class == contender.Floor.String():
			return -1
		case a.Class != b.Class && b.Class == contender.Floor.String():
			return 1
		}
		return cmp.Compare(a.value, b.value)
	})
	return rows
}

// timeRow is the time of a result: the median of its rounds, or its percentiles.
func timeRow(r workload.Result) row {
	made := row{Class: r.Kind.String(), Name: r.Name + parts(1, r.Variant), Note: r.Note,
		paired: r.Variant != ""}
	switch {
	case r.Latency != nil:
		l := r.Latency
		made.value, made.low, made.high = l.P50, l.P50, l.P999
		made.tails = []float64{l.P99, l.P999}
		made.Value = figure(l.P50) + " · " + figure(l.P99) + " · " + figure(l.P999)
	default:
		made.value = workload.Median(r.Nanos)
		made.low, made.high = workload.Interval(r.Nanos)
		made.Value = figure(made.value)
		if ratio := workload.Median(r.Ratios); ratio > 0 {
			made.Beside = figure(ratio) + "×"
		}
		if len(r.Added) > 0 {
			made.Beside = "+" + figure(max(workload.Median(r.Added), 0))
		}
	}
	return made
}

// placed computes the positions of a plot's rows and ticks.
func placed(p plot) plot {
	least, most := math.Inf(1), 0.0
	for _, r := range p.Rows {
		least, most = min(least, r.low), max(most, r.high)
	}
	axis := axisFor(least, most)
	for _, value := range axis.ticks() {
		p.Ticks = append(p.Ticks, tick{axis.at(value), axisText(value), axis.anchor(value)})
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		r.At = axis.at(r.value)
		if r.high > r.low {
			r.From, r.To = axis.at(r.low), axis.at(r.high)
		}
		for _, tail := range r.tails {
			r.Tails = append(r.Tails, axis.at(tail))
		}
	}
	return p
}

// axis is logarithmic, from low to high.
type axis struct{ low, high float64 }

// axisFor returns an axis on which all values from least to most have a place, and the least one is
// not at the very edge.
func axisFor(least, most float64) axis {
	if !(least > 0) || math.IsInf(least, 1) {
		least = 1
	}
	most = max(most, least)
	return axis{least / 1.6, max(most*1.05, least*2)}
}

// at returns the place of a value in percent.
func (a axis) at(value float64) string {
	share := math.Log(value/a.low) / math.Log(a.high/a.low)
	return fmt.Sprintf("%.2f%%", 100*min(max(share, 0), 1))
}

// ticks returns 1, 2, 5 and so on as far as they lie on the axis, and fewer on long ones.
func (a axis) ticks() (values []float64) {
	steps := []float64{1, 2, 5}
	switch long := a.high / a.low; {
	case long > 2000:
		steps = []float64{1}
	case long > 40:
		steps = []float64{1, 3}
	case long < 5:
		steps = []float64{1, 1.5, 2, 3, 4, 5, 7}
	}
	first := math.Floor(math.Log10(a.low))
	for power := first; power <= first+20 && math.Pow(10, power) <= a.high; power++ {
		for _, step := range steps {
			if value := step * math.Pow(10, power); value >= a.low && value <= a.high {
				values = append(values, value)
			}
		}
	}
	return values
}

// anchor keeps the text of a tick inside of the plot.
func (a axis) anchor(value float64) string {
	share := math.Log(value/a.low) / math.Log(a.high/a.low)
	switch {
	case share < 0.04:
		return "start"
	case share > 0.96:
		return "end"
	}
	return "middle"
}

// axisText writes a round number.
func axisText(value float64) string {
	if value >= 1000 {
		return fmt.Sprintf("%g k", value/1000)
	}
	return fmt.Sprintf("%g", value)
}
