package report

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/chart"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

//go:embed replay.html
var replayText string

// nameChars is how much of a name a page shows.
const nameChars = 120

// replayPage is what the template shows. All of it is text.
type replayPage struct {
	Source, Limit, Window, Noun, Parsed, Lines, Keys string
	From, To, Span                                   string
	Effect                                           string
	OwnEffect, LastEffect                            int // indexes of Effects
	LimitChart, TimeChart                            *chart.Chart
	Effects                                          []effectText
	Script                                           []effectScript
	Schemes                                          []schemeText
	Closest                                          string
	HardestText                                      string
	Hardest                                          []keyText
}

type (
	effectText   struct{ Limit, Denied, Share, Keys string }
	effectScript struct{ Limit, Text, At string } // what the slider needs
	schemeText   struct{ Name, Slots, Bucket, Denied, Share, Allow, Deny, Worst string }
	keyText      struct{ Name, Requests, Denied, Share, Width, Peak string }
)

// Page writes the report as a page of HTML that needs nothing beside itself; View must be there.
func (r *Report) Page(w io.Writer) error {
	p := replayPage{
		Source: Escape(r.Source, nameChars), Limit: count64(r.Plan.Limit),
		Window: short(r.Plan.Window), Noun: r.keyNoun(),
		Parsed: count(r.Parsed), Lines: plural(r.Lines, "line"), Keys: plural(r.Keys, r.keyNoun()),
		From: stamp(r.First), To: stamp(r.Last),
		Span:      long(r.Last.Sub(r.First).Round(time.Second)),
		TimeChart: r.timeChart(),
	}
	r.effects(&p)
	r.pageSchemes(&p)
	r.pageKeys(&p)
	page, err := chart.Parts().New("replay").Parse(replayText)
	if err != nil {
		return err
	}
	return page.Execute(w, p)
}

// day is the longest unit of time that is written.
const day = 24 * time.Hour

// long writes a duration, in days where it is long.
func long(d time.Duration) string {
	if d >= 4*day {
		return plural(int(d/day), "day")
	}
	return short(d)
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// effects fills in the slider and all that belongs to it.
func (r *Report) effects(p *replayPage) {
	limits := r.View.Limits
	x := chart.Logarithmic(1, float64(limits[len(limits)-1].Limit))
	most := 0.0
	var points []chart.Point
	for n, at := range limits {
		denied := 100 * float64(at.Denied) / float64(r.Parsed)
		most = max(most, denied)
		text := r.effect(at)
		points = append(points, chart.Point{X: float64(at.Limit), Y: denied, Text: text})
		if at.Limit == r.Plan.Limit {
			p.OwnEffect, p.Effect = n, text
		}
		p.Effects = append(p.Effects, effectText{
			count64(at.Limit), count(at.Denied), share(at.Denied, r.Parsed), count(at.Keys),
		})
	}
	p.LastEffect = len(limits) - 1
	c := chart.New("limits-chart", "Requests denied, by the limit", x, chart.Linear(most),
		"limit, requests per "+p.Window, "% of all requests")
	c.About = fmt.Sprintf("The share of denied requests falls from %s at a limit of 1 to %s at "+
		"%s. The table below has all figures.", p.Effects[0].Share, p.Effects[p.LastEffect].Share,
		p.Effects[p.LastEffect].Limit)
	c.Key = false
	c.Line("denied solid", "", points)
	for _, at := range limits {
		p.Script = append(p.Script, effectScript{
			count64(at.Limit), r.effect(at), c.X(float64(at.Limit)),
		})
	}
	c.Slider = p.Script[p.OwnEffect].At
	p.LimitChart = c
}

// effect says what a limit would do.
func (r *Report) effect(at replay.Effect) string {
	noun := "requests"
	what := fmt.Sprintf("%s of %s", part(at.Denied, r.Parsed), noun)
	if at.Denied == 0 {
		what = "no request"
	} else {
		what += fmt.Sprintf(", from %s of %s,", count(at.Keys), plural(r.Keys, r.keyNoun()))
	}
	return fmt.Sprintf("At %s per %s, %s would be denied.", count64(at.Limit),
		short(r.Plan.Window), what)
}

// timeChart shows the bins.
func (r *Report) timeChart() *chart.Chart {
	v := &r.View
	first, last := v.Bins[0].Start, v.Bins[len(v.Bins)-1].Start+tallyring.Tick(v.BinWidth)
	most, denied := 0, 0
	for _, b := range v.Bins {
		most, denied = max(most, b.Admitted+b.Denied), denied+b.Denied
	}
	x := chart.Axis{Low: 0, High: float64(last - first)}
	c := chart.New("time-chart", "Requests over time", x, chart.Linear(float64(most)),
		"time, UTC", "requests per "+long(v.BinWidth))
	c.About = fmt.Sprintf("%s in steps of %s, at most %s in one; %s of them denied.",
		plural(r.Parsed, "request"), long(v.BinWidth), count(most), count(denied))
	form := timeForm(v.BinWidth, time.Duration(last-first))
	c.SetXTicks(timeTicks(first, last), func(value float64) string {
		return time.Unix(0, int64(first)+int64(value)).UTC().Format(form)
	})
	for _, b := range v.Bins {
		from := float64(b.Start - first)
		c.Stack(from, from+float64(v.BinWidth), float64(b.Admitted), float64(b.Denied),
			"admitted", "denied", fmt.Sprintf("%s: %s admitted, %s denied",
				stamp(time.Unix(0, int64(b.Start))), count(b.Admitted), count(b.Denied)))
	}
	return c
}

// timeTicks returns four or so times after first, in nanoseconds, at round multiples of a width
// that people think in.
func timeTicks(first, last tallyring.Tick) (values []float64) {
	step := tallyring.Tick(replay.RoundWidth(time.Duration(last-first) / 5))
	for at := (first + step - 1) / step * step; at <= last; at += step {
		near := len(values) == 0 && at != first && at-first < (last-first)/20
		if !near { // to the edge, where a text has no room on its left
			values = append(values, float64(at-first))
		}
	}
	return values
}

// timeForm writes no more of a time than tells the ticks apart.
func timeForm(bin, span time.Duration) string {
	switch {
	case span > 100*day:
		return "Jan 2006"
	case span > 4*day:
		return "Jan 2"
	case span > 5*time.Minute:
		return "15:04"
	case span > 5*time.Second:
		return "15:04:05"
	}
	return "15:04:05.000"
}

func (r *Report) pageSchemes(p *replayPage) {
	for _, o := range r.Result.Outcomes {
		s := schemeText{
			Name: o.Name, Slots: count(o.Slots()), Bucket: p.Window, Denied: count(o.Denied),
			Share: share(o.Denied, r.Parsed), Allow: count(o.WrongAllow), Deny: count(o.WrongDeny),
			Worst: fmt.Sprintf("%s, %.2f×", count(o.WorstTrailing),
				float64(o.WorstTrailing)/float64(r.Plan.Limit)),
		}
		switch {
		case o.Name == "log":
			s.Slots, s.Bucket, s.Allow, s.Deny = "–", "–", "–", "–"
		case o.Resolution > 0:
			s.Bucket = bucketWidth(o.Resolution, r.Plan.Window)
		}
		p.Schemes = append(p.Schemes, s)
	}
	if best := closest(r.Result.Outcomes); best != nil {
		p.Closest = fmt.Sprintf("%s with %s, %s", best.Name, plural(best.Slots(), "slot"),
			plural(best.WrongAllow+best.WrongDeny, "wrong decision"))
	}
}

func (r *Report) pageKeys(p *replayPage) {
	p.HardestText = fmt.Sprintf("Hit hardest by the exact log, of %s that would be denied "+
		"something. The peak is the most requests in any %s, denied or not.",
		plural(r.Result.KeysDenied, r.keyNoun()), p.Window)
	if r.Result.KeysDenied == 0 {
		p.HardestText = fmt.Sprintf("No %s would be denied anything. The highest peaks:",
			r.keyNoun())
	}
	for _, k := range r.Result.Keys {
		part := float64(k.Denied) / float64(k.Requests)
		p.Hardest = append(p.Hardest, keyText{
			Escape(r.keyText(k.Key), nameChars), count(k.Requests), count(k.Denied),
			share(k.Denied, k.Requests), fmt.Sprintf("%.0f%%", math.Ceil(100*part)), count(k.Peak),
		})
	}
}
