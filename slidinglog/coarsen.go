package slidinglog

import "math/bits"

// MaxRuns is the most runs that a log holds, 1 MiB of them. Limits up to it are kept exactly; see
// the package comment for what happens beyond.
const MaxRuns = 1 << 16

// cellNanos returns the length of the cells that a log of the given length is coarsened to. The
// window overlaps at most MaxRuns/2 + 1 cells. A window of at most MaxRuns nanoseconds has no more
// ticks than that and is never coarsened.
func cellNanos(lengthNanos int64) int64 { return (2*lengthNanos + MaxRuns - 1) / MaxRuns }

// coarsen moves the events of each cell to the latest tick among them. Cells are a fixed grid, so
// that however often it is done no event moves further than one cell, and each time leaves at most
// MaxRuns/2 + 1 runs, so that its cost is spread over the many new runs until the next.
func (q *queue) coarsen(cell int64) {
	kept, from := 0, q.base
	q.carry = 0
	for i := range q.size {
		r := *q.at(i)
		count := r.upTo - from
		from = r.upTo
		// Runs up to kept are rewritten, those from i+1 on are as they were, and kept <= i.
		if kept == 0 || q.at(kept-1).tick/cell != r.tick/cell {
			*q.at(kept) = run{tick: r.tick, upTo: q.before(kept)}
			kept++
		}
		last := q.at(kept - 1)
		have := q.count(kept - 1)
		delta := addSaturated(have, count) - have
		_, carry := bits.Add64(last.upTo-q.base, delta, 0)
		q.carry += carry
		*last = run{tick: r.tick, upTo: last.upTo + delta}
	}
	q.size = kept
	q.coarse = q.newest
}
