package chart

import (
	"fmt"
	"math"
	"strconv"
)

// Axis is a scale from Low to High, linear or logarithmic. On a logarithmic axis what is below Low,
// 0 among it, stands at its beginning.
type Axis struct {
	Low, High   float64
	Logarithmic bool
}

// Linear returns an axis from 0 to a round number not below most.
func Linear(most float64) Axis {
	if !(most > 0) || math.IsInf(most, 1) {
		return Axis{0, 1, false}
	}
	step := roundStep(most / 4)
	return Axis{0, math.Ceil(most/step-1e-9) * step, false}
}

// Logarithmic returns an axis between two of 1, 2 and 5 times powers of ten, that has a place for
// all values from least, above 0, to most, and is a decade long at least.
func Logarithmic(least, most float64) Axis {
	if !(least > 0) || math.IsInf(least, 1) {
		least = 1
	}
	most = max(most, least)
	low := 1 / roundStep(1/least*(1-1e-9))
	return Axis{low, max(roundStep(most), 10*low), true}
}

// Share returns the place of a value, 0 to 1.
func (a Axis) Share(value float64) float64 {
	share := (value - a.Low) / (a.High - a.Low)
	if a.Logarithmic {
		share = 0
		if value > 0 {
			share = math.Log(value/a.Low) / math.Log(a.High/a.Low)
		}
	}
	return min(max(share, 0), 1)
}

// Values returns round numbers on the axis, about five.
func (a Axis) Values() (values []float64) {
	if !a.Logarithmic {
		step := roundStep((a.High - a.Low) / 5)
		for n := 0.0; a.Low+n*step <= a.High*(1+1e-9); n++ {
			values = append(values, a.Low+n*step)
		}
		return values
	}
	long := math.Log10(a.High / a.Low)
	steps, every := []float64{1, 2, 5}, 1.0
	if long > 2.5 {
		steps, every = []float64{1}, math.Ceil(long/6)
	}
	for n := math.Floor(math.Log10(a.Low) + 1e-9); math.Pow(10, n) <= a.High*(1+1e-9); n += every {
		for _, step := range steps {
			value := step * math.Pow(10, n)
			if value >= a.Low*(1-1e-9) && value <= a.High*(1+1e-9) {
				values = append(values, value)
			}
		}
	}
	return values
}

// roundStep returns 1, 2 or 5 times a power of ten, the first that is not below least.
func roundStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, step := range []float64{1, 2, 5} {
		if step*power >= least*(1-1e-9) {
			return step * power
		}
	}
	return 10 * power
}

// percent writes a place.
func percent(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// Number writes a number shortly: 1000 as 1 k, 2000000 as 2 M.
func Number(value float64) string {
	unit := ""
	switch size := math.Abs(value); {
	case size >= 1e9:
		value, unit = value/1e9, "\u00a0G"
	case size >= 1e6:
		value, unit = value/1e6, "\u00a0M"
	case size >= 1e4:
		value, unit = value/1e3, "\u00a0k"
	}
	return strconv.FormatFloat(value, 'g', 4, 64) + unit
}
