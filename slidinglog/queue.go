package slidinglog

import (
	"math"
	"math/bits"
	"sort"
)

const (
	// saturated is the count of a run that could not hold what was added to it. It is above every
	// finite limit and stays until it leaves the window.
	saturated = math.MaxUint64

	// firstRuns is the capacity of a queue that has counted something: one cache line.
	firstRuns = 4

	// keptRuns is the largest capacity that is kept however few runs are held: 1 KiB.
	keptRuns = 64
)

// run is the events counted at one tick. Its count is the difference of upTo to that of the run
// before it, modulo 2^64, so that the sum of any stretch of runs is one subtraction.
type run struct {
	tick int64
	upTo uint64
}

// queue is the runs of one log, in ascending order of ticks, each tick once and each count above
// 0. It knows neither limits nor its length, which callers pass as the tick `cut` up to which
// events no longer count. It is owned by whoever holds the lock of the log around it.
type queue struct {
	ring   []run  // power-of-two capacity
	head   int    // place in ring of run 0
	size   int    // number of runs
	base   uint64 // upTo of the run before run 0
	carry  uint64 // multiples of 2^64 in the sum of all runs
	newest int64  // latest tick counted; stays when its run is refunded or dropped
	coarse int64  // runs up to this tick may hold events up to a cell older; -1 if none do
}

// newQueue returns an empty queue whose newest tick is the one given.
func newQueue(newest int64) queue { return queue{newest: newest, coarse: -1} }

// at returns run i, 0 <= i < size.
func (q *queue) at(i int) *run { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// before returns upTo of the run before run i, 0 <= i <= size.
func (q *queue) before(i int) uint64 {
	if i == 0 {
		return q.base
	}
	return q.at(i - 1).upTo
}

// count returns the count of run i.
func (q *queue) count(i int) uint64 { return q.at(i).upTo - q.before(i) }

// after returns the index of the first run later than cut, or size.
func (q *queue) after(cut int64) int {
	if q.size == 0 || q.at(0).tick > cut {
		return 0
	}
	return 1 + sort.Search(q.size-1, func(i int) bool { return q.at(i+1).tick > cut })
}

// sum returns the sum of the runs from run i on, saturated.
func (q *queue) sum(i int) uint64 {
	if q.carry == 0 {
		// All of it is below 2^64, so the difference is not short of a multiple.
		return q.before(q.size) - q.before(i)
	}
	total := uint64(0)
	for ; i < q.size; i++ {
		total = addSaturated(total, q.count(i))
	}
	return total
}

// insert counts count > 0 events at tick. The caller has dropped what the window no longer covers.
func (q *queue) insert(tick int64, count uint64) {
	i := q.size
	if i > 0 && q.at(i-1).tick >= tick {
		i = q.after(tick - 1)
	}
	if i == q.size || q.at(i).tick != tick {
		q.open(i, tick)
	}
	have := q.count(i)
	q.raise(i, addSaturated(have, count)-have)
	q.newest = max(q.newest, tick)
}

// open makes place for a run of count 0 at index i.
func (q *queue) open(i int, tick int64) {
	if q.size == len(q.ring) {
		q.resize(max(firstRuns, 2*len(q.ring)))
	}
	for j := q.size; j > i; j-- {
		*q.at(j) = *q.at(j - 1)
	}
	q.size++
	*q.at(i) = run{tick: tick, upTo: q.before(i)}
}

// raise adds delta to the count of run i.
func (q *queue) raise(i int, delta uint64) {
	_, carry := bits.Add64(q.before(q.size)-q.base, delta, 0)
	q.carry += carry
	for ; i < q.size; i++ {
		q.at(i).upTo += delta
	}
}

// takeBack takes count events from run i, no more than it has, and closes it if none is left. A
// saturated run has forgotten how many it holds and keeps them.
func (q *queue) takeBack(i int, count uint64) {
	have := q.count(i)
	if have == saturated {
		return
	}
	delta := min(have, count)
	_, borrow := bits.Sub64(q.before(q.size)-q.base, delta, 0)
	q.carry -= borrow
	for j := i; j < q.size; j++ {
		q.at(j).upTo -= delta
	}
	if delta == have {
		for j := i; j < q.size-1; j++ {
			*q.at(j) = *q.at(j + 1)
		}
		q.size--
	}
}

// drop forgets the runs up to cut. Each run is dropped once, so this is O(1) per event counted.
func (q *queue) drop(cut int64) {
	for q.size > 0 && q.at(0).tick <= cut {
		upTo := q.at(0).upTo
		_, borrow := bits.Sub64(q.before(q.size)-q.base, upTo-q.base, 0)
		q.carry -= borrow
		q.base = upTo
		q.head = (q.head + 1) & (len(q.ring) - 1)
		q.size--
	}
	if len(q.ring) > keptRuns && q.size <= len(q.ring)/8 {
		q.resize(max(keptRuns, len(q.ring)/4))
	}
}

// resize moves the runs to a ring of the given capacity, a power of two not below size.
func (q *queue) resize(capacity int) {
	ring := make([]run, capacity)
	for i := range q.size {
		ring[i] = *q.at(i)
	}
	q.ring, q.head = ring, 0
}

// addSaturated returns a + b, or all ones where 64 bits cannot hold that.
func addSaturated(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return saturated
	}
	return sum
}
