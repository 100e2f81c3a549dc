package lab

import "math"

// Errors are wrong decisions, and wrong judgements of sources.
type Errors struct {
	WrongAllow int
	WrongDeny  int
	Missed     int // sources that are over the limit, and were never told so
	Accused    int // sources that never are over the limit, and were told so
}

// Wrong returns all wrong decisions.
func (e Errors) Wrong() int { return e.WrongAllow + e.WrongDeny }

// Open is what a kind's estimate says where every request is counted.
type Open struct {
	Errors
	MeanDifference float64 // of all requests, without their signs
	MeanOver       float64 // the same of the requests over the limit
	LargestAbove   float64 // the largest difference of an estimate above the true count, or 0
	LargestBelow   float64 // the same below it, without its sign: at most 1

	sum, sumOver float64
}

// add takes the estimate for one request.
func (o *Open) add(estimate float64, truth int, over bool) {
	difference := (estimate - float64(truth)) / float64(truth)
	o.sum += math.Abs(difference)
	if over {
		o.sumOver += math.Abs(difference)
	}
	o.LargestAbove = max(o.LargestAbove, difference)
	o.LargestBelow = max(o.LargestBelow, -difference)
}

// Closed is what a kind does as a limiter.
type Closed struct {
	Errors
	Denied        int
	WorstTrailing int // the most admitted requests of one key in any (t-W, t]
}

// Outcome is all about one kind.
type Outcome struct {
	Kind
	BytesPerKey float64
	HasOpen     bool // whether it has an estimate
	Open        Open
	Closed      Closed
}

// Findings are what Run returns.
type Findings struct {
	Requests    int
	Over        int // requests over the limit, in the open loop
	Denied      int // requests that the exact log denies, in the closed loop
	Sources     int
	SourcesOver int // those that are ever over the limit: the same in both loops
	Outcomes    []Outcome
	Course      Course
}

// count adds one decision; truth is whether it should have been admitted.
func (e *Errors) count(admitted, truth bool) {
	switch {
	case admitted && !truth:
		e.WrongAllow++
	case !admitted && truth:
		e.WrongDeny++
	}
}

// judge adds what was said of one source.
func (e *Errors) judge(said, truth bool) {
	switch {
	case truth && !said:
		e.Missed++
	case said && !truth:
		e.Accused++
	}
}
