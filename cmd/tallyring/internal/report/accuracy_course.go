package report

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/chart"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
)

// courseCharts draw the busy client's true count beside each estimate, all on the same axes.
func (a *Accuracy) courseCharts() (list []*chart.Chart) {
	course := &a.Findings.Course
	most := float64(a.Plan.Limit)
	for _, count := range course.Truth {
		most = max(most, float64(count))
	}
	for _, estimates := range course.Estimates {
		for _, estimate := range estimates {
			most = max(most, estimate)
		}
	}
	last := len(course.At) - 1
	half := (course.At[last] - course.At[0]) / 2
	low, high := -float64(half), float64(course.At[last]-course.At[0]-half)
	x, y := chart.Axis{Low: low, High: high}, chart.Linear(most)
	at := func(n int) float64 { return float64(course.At[n]-course.At[0]) + low }
	var truth []chart.Point
	for n, count := range course.Truth {
		truth = append(truth, chart.Point{X: at(n), Y: float64(count)})
	}
	for n := range a.Findings.Outcomes {
		o := &a.Findings.Outcomes[n]
		if course.Estimates[n] == nil || o.Name == "log" {
			continue
		}
		var points []chart.Point
		for i, estimate := range course.Estimates[n] {
			points = append(points, chart.Point{X: at(i), Y: estimate})
		}
		c := chart.New(fmt.Sprint("course-", n), courseTitle(o.Kind), x, y, "time from the peak",
			"requests in the window")
		c.Small, c.Key = true, false
		w := float64(a.Plan.Window)
		c.SetXTicks([]float64{-2 * w, -w, 0, w, 2 * w}, func(value float64) string {
			if value == 0 {
				return "0"
			}
			return short(time.Duration(value))
		})
		c.About = fmt.Sprintf("The estimate of %s beside the true count; over all requests it is "+
			"off by %s in the mean.", o.Kind, percent(o.Open.MeanDifference))
		c.Level(float64(a.Plan.Limit), "")
		c.Steps(o.Name+" solid", "estimate", points)
		c.Steps("truth", "true count", truth)
		list = append(list, c)
	}
	return list
}

// courseTitle names a kind in full.
func courseTitle(k lab.Kind) string {
	switch {
	case k.Slots() > 1:
		return fmt.Sprintf("%s, %d slots", k.Name, k.Slots())
	case k.Epsilon > 0:
		return fmt.Sprintf("%s, error %g", k.Name, k.Epsilon)
	}
	return k.Name
}

// tables are the figures of the charts, and those that are not drawn.
func (a *Accuracy) tables() []figureTable {
	f := &a.Findings
	wrongHead := []string{"Window", "Wrong allow", "per request", "per over-limit", "Wrong deny",
		"per request", "per over-limit"}
	open := figureTable{Head: wrongHead,
		Title: "Open loop: " + are(f.Over, "request") + " over the limit"}
	closed := figureTable{Head: append([]string{"Window", "Denied"}, wrongHead[1:]...),
		Title: "Closed loop: the log denies " + plural(f.Denied, "request")}
	rest := figureTable{
		Title: "Estimates, sources (open loop), worst (closed loop), bytes",
		Head: []string{"Window", "Mean difference", "when over", "Largest above", "below",
			"Sources missed", "accused", "Worst trailing", "Bytes per key"},
	}
	for i := range f.Outcomes {
		o := &f.Outcomes[i]
		name := []string{o.Kind.String()}
		cells := append(name, "–", "–", "–", "–", "–", "–")
		if o.HasOpen {
			open.Rows = append(open.Rows, append(name, a.wrong(&o.Open.Errors, f.Over)...))
			cells = append(name, percent(o.Open.MeanDifference), percent(o.Open.MeanOver),
				percent(o.Open.LargestAbove), percent(o.Open.LargestBelow), count(o.Open.Missed),
				count(o.Open.Accused))
		}
		closed.Rows = append(closed.Rows, append(append(name, count(o.Closed.Denied)),
			a.wrong(&o.Closed.Errors, f.Denied)...))
		rest.Rows = append(rest.Rows, append(cells, fmt.Sprintf("%s, %.2f×",
			count(o.Closed.WorstTrailing),
			float64(o.Closed.WorstTrailing)/float64(a.Plan.Limit)), bytesText(o.BytesPerKey)))
	}
	return []figureTable{open, closed, rest}
}

// wrong returns the cells of wrong decisions.
func (a *Accuracy) wrong(e *lab.Errors, over int) []string {
	requests := a.Findings.Requests
	return []string{
		count(e.WrongAllow), part(e.WrongAllow, requests), part(e.WrongAllow, over),
		count(e.WrongDeny), part(e.WrongDeny, requests), part(e.WrongDeny, over),
	}
}
