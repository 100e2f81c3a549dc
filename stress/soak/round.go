package main

import (
	"math/rand/v2"
	"time"

	"github.com/tallyring/tallyring"
)

// Time as the rounds move it. A storm travels no further than maxTravel, and no goroutine is later
// than maxLag: so all ticks of a storm lie within the shortest window that churn is counted in.
const (
	maxTravel = 2 * time.Second
	maxLag    = time.Second
)

// round is the plan of one round. It follows from the seed and the number alone.
type round struct {
	number   int
	jump     time.Duration   // at rest, before the storm
	travel   time.Duration   // in the storm
	lags     []time.Duration // how late each goroutine is
	limits   bool            // limits change in the storm
	refunds  bool
	convoy   bool // all goroutines go from structure to structure together
	flips    bool // GOMAXPROCS changes
	fill     bool
	shuffled []int // the order of the structures

	start, end tallyring.Tick // of the storm; set when it begins
}

// jumps are how far time moves between two rounds: not at all, within a bucket, over some, beyond
// every ring, and beyond every clock that keeps too few bits.
var jumps = []time.Duration{
	0, 0, 0, 1, 90 * time.Millisecond, 700 * time.Millisecond, 3 * time.Second, 5 * time.Second,
	9 * time.Second, 130 * time.Second, 130 * time.Second, 4 * time.Minute, time.Hour,
	50 * 24 * time.Hour, 300 * 24 * time.Hour,
}

// newRound plans a round. What must happen in every run is due at certain numbers, so that a short
// run sees it; the rest is drawn.
func newRound(seed uint64, number, goroutines, loads int) *round {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	r := &round{
		number:   number,
		jump:     jumps[random.IntN(len(jumps))],
		refunds:  number%3 != 0,
		limits:   number%5 == 2,
		convoy:   number%2 == 0,
		flips:    number%4 == 1,
		fill:     number%3 != 2,
		shuffled: random.Perm(loads),
	}
	if number%4 != 3 {
		r.travel = 1 + time.Duration(random.Int64N(int64(maxTravel)>>random.IntN(4)))
	}
	lags := []time.Duration{1, 30 * time.Millisecond, 300 * time.Millisecond, maxLag}
	for g := range goroutines {
		lag := time.Duration(0)
		if g%2 == 1 && number%2 == 1 {
			lag = lags[random.IntN(len(lags))]
		}
		r.lags = append(r.lags, lag)
	}
	return r
}

// span returns the earliest tick that a goroutine may use in the storm, and the latest.
func (r *round) span() (from, to tallyring.Tick) {
	return max(r.start-tallyring.Tick(maxLag), 0), r.end
}
