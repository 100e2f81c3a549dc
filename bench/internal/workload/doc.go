// Package workload says what is measured, and measures it.
//
// A Workload is a list of contenders that do the same work. A Trial is one of them, made and
// filled. The Runner times trials in turn, round after round, so that whatever else the machine
// does falls on all of them alike: small ones all alive beside each other, large ones one at a time
// with the floor beside it. Every timed span is checked: a contender that denies an event which it
// should allow, or the reverse, ends the run with an error.
//
//	Workload  one row of contenders; Bench is its name in benchmark form
//	Trial     one contender, ready
//	Runner    rounds, spans, answers
//	Result    what was measured of one contender
package workload
