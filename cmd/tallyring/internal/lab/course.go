package lab

import (
	"github.com/tallyring/tallyring"
)

// Course is the true count of one client over a few windows around its peak, and what each kind
// takes it to be while every request is counted.
type Course struct {
	Client    string
	At        []tallyring.Tick // equally far apart
	Truth     []int
	Estimates [][]float64 // by kind; nil for one without an estimate
}

const (
	coursePoints  = 240
	courseWindows = 4
)

// busiest remembers the key whose true count is the highest; of equals, the first.
func (l *lab) busiest(key int) {
	for _, count := range l.counts {
		if count > l.peak {
			l.busy, l.peak = key, count
		}
	}
}

// course follows the requests of l.ticks, those of the busiest key.
func (l *lab) course() (Course, error) {
	c := Course{Client: l.events.Name(l.busy)}
	l.counts = trueCounts(l.counts[:0], l.ticks, l.plan.Window)
	top := l.ticks[0]
	for i, count := range l.counts {
		if count == l.peak {
			top = l.ticks[i]
			break
		}
	}
	span := courseWindows * tallyring.Tick(l.plan.Window)
	step := max(span/coursePoints, 1)
	first := max(top-span/2, 0)
	for n := range tallyring.Tick(coursePoints + 1) {
		c.At = append(c.At, first+n*step)
		c.Truth = append(c.Truth, trueCount(l.ticks, first+n*step, l.plan.Window))
	}
	for n := range l.Outcomes {
		estimates, err := l.estimates(n, c.At)
		if err != nil {
			return c, err
		}
		c.Estimates = append(c.Estimates, estimates)
	}
	return c, nil
}

// estimates reads a window of kind n at each of the ascending ticks.
func (l *lab) estimates(n int, at []tallyring.Tick) ([]float64, error) {
	w, err := l.window(n)
	if err != nil || !w.hasEstimate {
		return nil, err
	}
	var list []float64
	next := 0
	for _, tick := range at {
		for next < len(l.ticks) && l.ticks[next] <= tick {
			w.counter.Add(l.lines[n].At(l.ticks[next]), 1)
			next++
		}
		list = append(list, w.estimate(max(l.lines[n].At(tick), 0)))
	}
	return list, nil
}
