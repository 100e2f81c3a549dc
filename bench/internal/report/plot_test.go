package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/workload"
)

// Goal: on the axis the same factor is the same distance, and no value lies outside.
func TestAxisIsLogarithmic(t *testing.T) {
	a := axis{1, 100}
	assert.Equal(t, "0.00%", a.at(1))
	assert.Equal(t, "50.00%", a.at(10))
	assert.Equal(t, "100.00%", a.at(100))
	assert.Equal(t, "0.00%", a.at(0.1))
	assert.Equal(t, "100.00%", a.at(1e9))
	assert.Equal(t, "0.00%", axisFor(0, 0).at(0), "nothing to show is no error")
}

// Goal: ticks are round numbers on the axis, a few of them, however long it is.
func TestTicksAreRoundAndFew(t *testing.T) {
	assert.Equal(t, []float64{2, 5, 10}, axis{1.5, 12}.ticks())
	assert.Equal(t, []float64{3, 10, 30, 100}, axis{2, 120}.ticks())
	assert.Equal(t, []float64{1, 10, 100, 1000, 10_000}, axis{0.9, 20_000}.ticks())
	assert.Equal(t, []float64{150, 200, 300, 400}, axis{120, 410}.ticks())
	assert.Equal(t, "10 k", axisText(10_000))
	assert.Equal(t, "0.5", axisText(0.5))
}

// Goal: floors stand first, then the fastest; pairs stay beside each other; each number of workers
// has a plot, and the memory one of its own.
func TestPlotsAreOrdered(t *testing.T) {
	slow, fast := result("slow", contender.Peer, 9), result("fast", contender.Engine, 3)
	fast.ProcessPerKey = 20
	two := result("fast", contender.Engine, 2)
	two.Workers = 2
	m := measured(slow, fast, two, result("floor", contender.Floor, 5))[0]
	list := plots(m)
	require.Len(t, list, 3)
	assert.Equal(t, []string{"floor", "fast", "slow"}, names(list[0]))
	assert.Equal(t, "1 goroutine", list[0].Title)
	assert.Equal(t, "2 goroutines", list[1].Title)
	assert.Equal(t, "B per key", list[2].Unit)

	var pair []workload.Result
	for _, variant := range []string{"flood=no", "flood=yes"} {
		r := result("a", contender.Engine, 400)
		r.Variant, r.Latency = variant, &workload.Latency{P50: 50, P99: 400, P999: 900}
		pair = append(pair, r)
	}
	flooded := plots(measured(pair...)[0])
	assert.Equal(t, []string{"a, no flood", "a, flood"}, names(flooded[0]))
	assert.Equal(t, "50.0 · 400 · 900", flooded[0].Rows[0].Value)
	assert.Len(t, flooded[0].Rows[0].Tails, 2)
}

func names(p plot) (list []string) {
	for _, r := range p.Rows {
		list = append(list, r.Name)
	}
	return list
}
