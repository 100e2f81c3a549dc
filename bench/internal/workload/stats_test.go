package workload

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Goal: medians of odd, even and no values. Method: by hand; the argument is left as it was.
func TestMedianIsTheMiddle(t *testing.T) {
	values := []float64{9, 1, 5}
	assert.Equal(t, 5.0, Median(values))
	assert.Equal(t, []float64{9, 1, 5}, values)
	assert.Equal(t, 3.0, Median([]float64{5, 1, 2, 4}))
	assert.True(t, math.IsNaN(Median(nil)))
}

// Goal: the order statistics that textbooks give for a 95 % interval of a median. Method: the
// well-known table of ranks for n = 5, 6, 9, 11 and 20.
func TestIntervalTakesTheRanksOfTheTable(t *testing.T) {
	for _, c := range []struct{ n, low, high int }{
		{1, 1, 1}, {5, 1, 5}, {6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {11, 2, 10}, {20, 6, 15},
	} {
		values := make([]float64, c.n)
		for i, rank := range rand.New(rand.NewPCG(1, 1)).Perm(c.n) {
			values[i] = float64(rank + 1)
		}
		low, high := Interval(values)
		assert.Equal(t, []float64{float64(c.low), float64(c.high)}, []float64{low, high},
			"n = %d", c.n)
	}
}

// Goal: the interval holds the true median as often as it says. Method: 4000 samples of 11 from a
// skewed distribution; chance leaves less than 94 % in one of 10^10 such tests.
func TestIntervalCoversTheTrueMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	const rounds = 4000
	covered := 0
	for range rounds {
		values := make([]float64, 11)
		for i := range values {
			values[i] = random.ExpFloat64()
		}
		if low, high := Interval(values); low <= math.Ln2 && math.Ln2 <= high {
			covered++
		}
	}
	assert.GreaterOrEqual(t, covered, rounds*94/100)
	assert.Less(t, covered, rounds, "an interval that always covers says nothing")
}
