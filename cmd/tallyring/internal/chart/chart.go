package chart

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"
)

//go:embed chart.html
var parts string

// Parts returns a new template with the definitions "style", the style of a whole page, "chart",
// which is given a Chart, and "mark", the key of a series, which is given its class.
func Parts() *template.Template { return template.Must(template.New("parts").Parse(parts)) }

// Chart is a drawing of series over two axes. IDs are unique on a page.
type Chart struct {
	ID, Title      string
	About          string // what there is to see, for who cannot
	XLabel, YLabel string
	Small          bool // one of many that are alike
	Key            bool // whether the names of the series stand above it
	XTicks, YTicks []Tick
	Series         []Series
	Bars           []Bar
	Rule           *Rule
	Slider         string // where the line of a slider stands at first; empty for none

	x, y   Axis
	labels []place
}

// place is that of a label, in shares.
type place struct{ x, y float64 }

// Tick is a number at its place on an axis.
type Tick struct {
	At, Text, Side string
	Flip           string // the place counted from the other end, as SVG has it
}

// Series is points of one kind: a line through them, marks on them, or both.
type Series struct {
	Class, Name string
	Path        string // of the line, in thousandths; empty for none
	Marks       []Mark
}

// Mark is one point with what it says.
type Mark struct {
	X, Y, Text string
	Label      string // beside it
	Left       bool   // on which side
	Drop       int    // of the label's foot below the point, in pixels
}

// Bar is one of a row of bars, of two parts; the second stands on the first.
type Bar struct {
	X, Width                  string
	LowY, LowHeight           string
	HighY, HighHeight         string
	Text, LowClass, HighClass string
}

// Rule is a level across the drawing.
type Rule struct{ At, Text string }

// Point is a value, what it says when it is pointed at, and what stands beside it.
type Point struct {
	X, Y        float64
	Text, Label string
}

// New returns a chart with ticks on both axes.
func New(id, title string, x, y Axis, xLabel, yLabel string) *Chart {
	c := &Chart{ID: id, Title: title, XLabel: xLabel, YLabel: yLabel, Key: true, x: x, y: y}
	c.XTicks = ticks(x, x.Values(), Number)
	c.YTicks = ticks(y, y.Values(), Number)
	return c
}

func ticks(a Axis, values []float64, text func(float64) string) (list []Tick) {
	for n, value := range values {
		share := a.Share(value)
		side := ""
		switch {
		case n > 0 && share > 0.96:
			side = "end"
		case share < 0.04:
			side = "start"
		}
		list = append(list, Tick{percent(share), text(value), side, percent(1 - share)})
	}
	return list
}

// SetXTicks replaces the ticks of the axis.
func (c *Chart) SetXTicks(values []float64, text func(float64) string) {
	c.XTicks = ticks(c.x, values, text)
}

// ZeroY says that what is below a logarithmic axis, 0 among it, stands at its beginning.
func (c *Chart) ZeroY() { c.YTicks[0].Text = "≤\u00a0" + c.YTicks[0].Text }

// X returns the place of a value on the axis.
func (c *Chart) X(value float64) string { return percent(c.x.Share(value)) }

// Line adds a series as a line through points, without marks.
func (c *Chart) Line(class, name string, points []Point) {
	c.Series = append(c.Series, Series{Class: class, Name: name, Path: c.path(points, false)})
}

// Steps adds a series as a line that stays at each point until the next.
func (c *Chart) Steps(class, name string, points []Point) {
	c.Series = append(c.Series, Series{Class: class, Name: name, Path: c.path(points, true)})
}

// Dots adds a series as marks, with a line through them if joined.
func (c *Chart) Dots(class, name string, points []Point, joined bool) {
	s := Series{Class: class, Name: name}
	if joined && len(points) > 1 {
		s.Path = c.path(points, false)
	}
	for _, p := range points {
		m := Mark{X: c.X(p.X), Y: percent(1 - c.y.Share(p.Y)), Text: p.Text}
		m.Label, m.Left = c.label(p)
		if m.Drop = 4; c.y.Share(p.Y) < 0.03 {
			m.Drop = -6 // not on the axis
		}
		s.Marks = append(s.Marks, m)
	}
	c.Series = append(c.Series, s)
}

// label finds room for what stands beside a point: on its right, on its left, or nowhere.
func (c *Chart) label(p Point) (text string, left bool) {
	const width, height = 0.09, 0.08 // of a label on a phone
	for _, side := range []float64{1, -1} {
		at := place{c.x.Share(p.X) + side*width/2, c.y.Share(p.Y)}
		free := true
		for _, other := range c.labels {
			free = free && (math.Abs(at.x-other.x) >= width || math.Abs(at.y-other.y) >= height)
		}
		if free && p.Label != "" {
			c.labels = append(c.labels, at)
			return p.Label, side < 0
		}
	}
	return "", false
}

// Level draws a dashed level.
func (c *Chart) Level(value float64, text string) {
	c.Rule = &Rule{percent(1 - c.y.Share(value)), text}
}

// Stack adds a bar from one x to another, of two counts on each other.
func (c *Chart) Stack(from, to, low, high float64, lowClass, highClass, text string) {
	l, h := c.y.Share(low), c.y.Share(low+high)
	width := c.x.Share(to) - c.x.Share(from)
	c.Bars = append(c.Bars, Bar{
		X: c.X(from), Width: percent(width * 0.86), Text: text,
		LowClass: lowClass, HighClass: highClass,
		LowY: percent(1 - l), LowHeight: percent(l), HighY: percent(1 - h),
		HighHeight: percent(h - l),
	})
}

// path is in a square of 1000 by 1000, which is stretched over the drawing.
func (c *Chart) path(points []Point, steps bool) string {
	var b strings.Builder
	for n, p := range points {
		x, y := 1000*c.x.Share(p.X), 1000*(1-c.y.Share(p.Y))
		switch {
		case n == 0:
			fmt.Fprintf(&b, "M%.1f,%.1f", x, y)
		case steps:
			fmt.Fprintf(&b, "H%.1fV%.1f", x, y)
		default:
			fmt.Fprintf(&b, "L%.1f,%.1f", x, y)
		}
	}
	return b.String()
}
