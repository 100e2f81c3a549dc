package report

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/chart"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/claims"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
)

//go:embed accuracy.html
var accuracyText string

// accuracyPage is what the template shows. All of it is text.
type accuracyPage struct {
	Source, Requests, Sources, From, Span, Limit, Window, Noun string
	Over, Denied, SourcesOver, Client                          string
	HasEpsilon                                                 bool
	SlotCharts, ByteCharts, CourseCharts                       []*chart.Chart
	Tables                                                     []figureTable
	Claims                                                     []claimText
}

type figureTable struct {
	Title string
	Head  []string
	Rows  [][]string
}

type claimText struct{ Text, From, Run, Figure, Verdict, Class, Because string }

// Page writes the findings as a page of HTML that needs nothing beside itself.
func (a *Accuracy) Page(w io.Writer) error {
	f := &a.Findings
	noun := keyNoun(a.Key)
	p := accuracyPage{
		Source: Escape(a.Source, nameChars), Requests: count(f.Requests),
		Sources: plural(f.Sources, noun), From: stamp(a.First),
		Span:  long(a.Last.Sub(a.First).Round(time.Second)),
		Limit: count64(a.Plan.Limit), Window: short(a.Plan.Window), Noun: noun,
		Over: count(f.Over), Denied: count(f.Denied), SourcesOver: plural(f.SourcesOver, noun),
		Client:     Escape(f.Course.Client, nameChars),
		HasEpsilon: len(a.Plan.Epsilons) > 0,
		SlotCharts: a.slotCharts(), ByteCharts: a.byteCharts(), CourseCharts: a.courseCharts(),
		Tables: a.tables(),
	}
	for _, c := range a.Claims {
		class := map[claims.Verdict]string{claims.Reproduced: "yes", claims.Contradicted: "no"}
		p.Claims = append(p.Claims, claimText{
			c.Text, c.From, c.Run, c.Figure, string(c.Verdict), class[c.Verdict], c.Because,
		})
	}
	page, err := chart.Parts().New("accuracy").Parse(accuracyText)
	if err != nil {
		return err
	}
	return page.Execute(w, p)
}

// measure is a figure of a kind that is drawn; ok is false where the kind has none.
type measure struct {
	id, title, unit string
	logarithmic     bool
	of              func(o *lab.Outcome) (value float64, ok bool)
}

// measures are those that are drawn. Shares of over-limit requests are left out where there are
// none.
func (a *Accuracy) measures() []measure {
	f := &a.Findings
	list := []measure{
		{"open", "Wrong judgements, open loop", "% of over-limit requests", true,
			func(o *lab.Outcome) (float64, bool) {
				return 100 * float64(o.Open.Wrong()) / float64(f.Over), o.HasOpen && f.Over > 0
			}},
		{"closed", "Wrong decisions, closed loop", "% of what the log denies", true,
			func(o *lab.Outcome) (float64, bool) {
				return 100 * float64(o.Closed.Wrong()) / float64(f.Denied), f.Denied > 0
			}},
		{"mean", "Mean difference of the estimate", "% of the true count", true,
			func(o *lab.Outcome) (float64, bool) { return 100 * o.Open.MeanDifference, o.HasOpen }},
		{"worst", "Worst trailing count", "times the limit", false,
			func(o *lab.Outcome) (float64, bool) {
				return float64(o.Closed.WorstTrailing) / float64(a.Plan.Limit), true
			}},
	}
	if f.Denied == 0 {
		return list[2:]
	}
	return list
}

// axisOf returns an axis for a measure of the given outcomes, and whether its beginning is 0.
func (a *Accuracy) axisOf(m measure, drawn func(o *lab.Outcome) bool) (axis chart.Axis, zero bool) {
	least, most := math.Inf(1), 0.0
	for i := range a.Findings.Outcomes {
		o := &a.Findings.Outcomes[i]
		value, ok := m.of(o)
		if !ok || !drawn(o) {
			continue
		}
		most = max(most, value)
		if value > 0 {
			least = min(least, value)
		} else {
			zero = true
		}
	}
	if !m.logarithmic {
		return chart.Linear(most), false
	}
	axis = chart.Logarithmic(max(least, most/1e4), most)
	if zero && axis.Low > 0.6*least {
		axis.Low /= 2 // a place of its own for what is 0
	}
	if zero = zero || least < axis.Low; zero {
		axis.Low = math.Pow(10, math.Floor(math.Log10(axis.Low)+1e-9)) // a tick of its own
	}
	return axis, zero
}

// about says in words what a chart shows.
func about(points map[string][]chart.Point, order []string) (text string) {
	for _, name := range order {
		for _, p := range points[name] {
			text += p.Text + ". "
		}
	}
	return text
}

var ringNames = []string{"fixed", "sliding", "strict"}

// slotCharts draw every measure of the rings against their slots.
func (a *Accuracy) slotCharts() (list []*chart.Chart) {
	isRing := func(o *lab.Outcome) bool { return o.Slots() > 0 }
	most := 2.0
	for _, r := range a.Plan.Resolutions {
		most = max(most, float64(r.Slots()))
	}
	x := chart.Axis{Low: 0.8, High: most * 1.25, Logarithmic: true}
	for _, m := range a.measures() {
		y, zero := a.axisOf(m, isRing)
		c := chart.New("slots-"+m.id, m.title, x, y, "slots of the ring", m.unit)
		if zero {
			c.ZeroY()
		}
		c.SetXTicks(a.slotValues(), chart.Number)
		points := a.points(m, isRing, func(o *lab.Outcome) float64 { return float64(o.Slots()) })
		for _, list := range points {
			for n := range list {
				list[n].Label = "" // the axis says it
			}
		}
		for _, name := range ringNames {
			c.Dots(name, name, points[name], true)
		}
		c.About = about(points, ringNames)
		list = append(list, c)
	}
	return list
}

// slotValues returns 1 and the slots of the rings, those left out that stand too near to the last.
func (a *Accuracy) slotValues() []float64 {
	values := []float64{1}
	for slots := 2.0; slots <= 1<<16; slots++ {
		for _, r := range a.Plan.Resolutions {
			if float64(r.Slots()) == slots && slots >= 1.3*values[len(values)-1] {
				values = append(values, slots)
			}
		}
	}
	return values
}

var kindNames = []string{"log", "fixed", "sliding", "strict", "exphist", "gcra"}

// byteCharts draw what goes wrong against what a key costs.
func (a *Accuracy) byteCharts() (list []*chart.Chart) {
	all := func(*lab.Outcome) bool { return true }
	least, most := math.Inf(1), 0.0
	for _, o := range a.Findings.Outcomes {
		least, most = min(least, o.BytesPerKey), max(most, o.BytesPerKey)
	}
	x := chart.Axis{Low: least / 1.5, High: most * 1.8, Logarithmic: true}
	for _, m := range a.measures() {
		if m.id == "open" || m.id == "worst" {
			continue
		}
		y, zero := a.axisOf(m, all)
		c := chart.New("bytes-"+m.id, m.title, x, y, "bytes per key", m.unit)
		if zero {
			c.ZeroY()
		}
		c.SetXTicks(byteValues(x), chart.Number)
		points := a.points(m, all, func(o *lab.Outcome) float64 { return o.BytesPerKey })
		for _, name := range kindNames {
			if len(points[name]) > 0 {
				c.Dots(name, name, points[name], false)
			}
		}
		c.About = about(points, kindNames)
		list = append(list, c)
	}
	return list
}

// byteValues returns powers of two on the axis, at most seven.
func byteValues(x chart.Axis) (values []float64) {
	factor := 2.0
	for math.Pow(factor, 7) < x.High/x.Low {
		factor *= 2
	}
	for value := 1.0; value <= x.High; value *= 2 {
		if value >= x.Low && (len(values) == 0 || value >= factor*values[len(values)-1]) {
			values = append(values, value)
		}
	}
	return values
}

// points returns a measure of the kinds that are drawn, by the names of the kinds.
func (a *Accuracy) points(
	m measure, drawn func(*lab.Outcome) bool, x func(*lab.Outcome) float64,
) map[string][]chart.Point {
	points := map[string][]chart.Point{}
	for i := range a.Findings.Outcomes {
		o := &a.Findings.Outcomes[i]
		value, ok := m.of(o)
		if !ok || !drawn(o) {
			continue
		}
		label := ""
		if o.Slots() > 1 {
			label = fmt.Sprint(o.Slots())
		} else if o.Epsilon > 0 {
			label = fmt.Sprint(o.Epsilon)
		}
		points[o.Name] = append(points[o.Name], chart.Point{
			X: x(o), Y: value, Label: label,
			Text: fmt.Sprintf("%s: %.3g %s", o.Kind, value, m.unit),
		})
	}
	return points
}
