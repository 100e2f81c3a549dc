package chart

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Goal: an axis has a place for all its values, 0 where it begins, and the same factor is the same
// distance on a logarithmic one. Method: known places.
func TestAxis(t *testing.T) {
	a := Logarithmic(3, 180)
	assert.InDelta(t, 2, a.Low, 1e-12)
	assert.InDelta(t, 200, a.High, 1e-9)
	assert.InDelta(t, 0.5, a.Share(20), 1e-9)
	assert.Zero(t, a.Share(0))
	assert.Equal(t, 1.0, a.Share(1e9))
	assert.InDeltaSlice(t, []float64{2, 5, 10, 20, 50, 100, 200}, a.Values(), 1e-9)
	long := Logarithmic(1, 9_000).Values()
	assert.InDeltaSlice(t, []float64{1, 10, 100, 1000, 10_000}, long, 1e-9)
	assert.Equal(t, Axis{1, 10, true}, Logarithmic(0, 0), "nothing to show is no error")
	l := Linear(83)
	assert.Equal(t, Axis{0, 100, false}, l)
	assert.Equal(t, []float64{0, 20, 40, 60, 80, 100}, l.Values())
	assert.Equal(t, 0.25, l.Share(25))
	assert.Equal(t, Axis{0, 1, false}, Linear(0))
	for _, most := range []float64{0.001, 0.03, 1, 7, 99, 100, 101, 12345} {
		for _, axis := range []Axis{Linear(most), Logarithmic(most/50, most)} {
			assert.GreaterOrEqual(t, axis.High, most*(1-1e-9))
			assert.GreaterOrEqual(t, len(axis.Values()), 3, "%v", axis)
			assert.LessOrEqual(t, len(axis.Values()), 9, "%v", axis)
		}
	}
}

// Goal: numbers are short. Method: the edges of each form.
func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 0.5: "0.5", 1000: "1000", 10_000: "10\u00a0k", 2_500_000: "2.5\u00a0M",
		3e9: "3\u00a0G", 0.30000000000000004: "0.3",
	} {
		assert.Equal(t, want, Number(value))
	}
}

// Goal: labels never lie on each other: they go to the left, or are left out. Method: three points
// on one place.
func TestLabelsDoNotCollide(t *testing.T) {
	c := New("c", "title", Linear(10), Linear(10), "x", "y")
	at := Point{X: 5, Y: 5, Label: "7"}
	c.Dots("sliding", "sliding", []Point{at, at, at, {X: 9, Y: 9, Label: "8"}}, false)
	marks := c.Series[0].Marks
	assert.Equal(t, []string{"7", "7", "", "8"},
		[]string{marks[0].Label, marks[1].Label, marks[2].Label, marks[3].Label})
	assert.False(t, marks[0].Left)
	assert.True(t, marks[1].Left)
}

// Goal: a chart is well-formed, says what it shows to who cannot see it, and escapes what it is
// given. Method: one with all there is, read as XML.
func TestChartIsWellFormed(t *testing.T) {
	c := New("all", `<b>"Title"</b>`, Logarithmic(1, 100), Linear(20), "x & more", "y")
	c.About = "what there is <script>"
	points := []Point{{X: 1, Y: 2, Text: "one"}, {X: 10, Y: 20, Text: "two", Label: "2"}}
	c.Dots("sliding", "sliding", points, true)
	c.Line("denied", "", points)
	c.Steps("truth", "truth", points)
	c.Level(10, "limit")
	c.Stack(1, 10, 5, 2, "admitted", "denied", "7 requests")
	c.ZeroY()
	c.Slider = c.X(10)
	page, err := Parts().New("page").Parse(`{{template "chart" .}}`)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, page.Execute(&b, c))
	text := b.String()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
	}
	assert.NotContains(t, text, "<script")
	assert.NotContains(t, text, "<b>")
	assert.NotContains(t, text, "ZgotmplZ", "the template refused a value")
	for _, want := range []string{
		`role="img"`, `aria-labelledby="all-title all-about"`, `id="all-hand" x1="50.00%"`,
		`d="M0.0,900.0L500.0,0.0"`, `d="M0.0,900.0H500.0V0.0"`, "<title>7 requests</title>",
		`style="left:50.00%"`, `style="bottom:100.00%"`, "x &amp; more", "limit",
	} {
		assert.Contains(t, text, want)
	}
}
