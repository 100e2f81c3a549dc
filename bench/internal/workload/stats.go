package workload

import (
	"math"
	"slices"
)

// Median returns the middle of values, or the mean of the two in the middle; NaN of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Interval returns the bounds between which the median of the distribution behind values lies with
// a confidence of at least 95 %, whatever the distribution: the order statistics that the binomial
// distribution gives. Of fewer than 6 values, for which there are none, it is the extremes.
func Interval(values []float64) (low, high float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	out, tail := 0, 0.0
	term := math.Pow(0.5, float64(n)) // the chance that exactly k values lie below the median
	for k := 0; k < n/2; k++ {
		tail += term
		if tail > 0.025 {
			break
		}
		out = k
		term *= float64(n-k) / float64(k+1)
	}
	return sorted[out], sorted[n-1-out]
}
