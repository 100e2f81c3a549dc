package crowd

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

const (
	// firstPatience is how often a member looks for the others before the first round of a batch:
	// long enough for an idle processor to find a goroutine that waits to run.
	firstPatience = 1 << 15

	// patience is how often it looks before any other round, and yieldEvery how many looks it takes
	// before it lets another goroutine on its processor.
	patience   = 1 << 11
	yieldEvery = 1 << 8
)

// gate counts the members that have come to one round, on lines of its own.
type gate struct {
	arrived atomic.Int64
	_       [tallyring.PadBytes - 8]byte // keeps the next round's gate away
}

// Meet runs a batch of rounds with a number of members, each a goroutine that lives as long as the
// batch. It returns when all are done; what they wrote is visible to the caller then. The work of a
// round is given the member and the round, both numbered from 0, and runs at the same time as that
// of the other members, and, where one of them is slow, as that of other rounds.
func Meet(members, rounds int, work func(member, round int)) {
	gates := make([]gate, rounds)
	var done sync.WaitGroup
	for member := range members {
		done.Go(func() {
			limit := firstPatience
			for round := range rounds {
				gates[round].pass(int64(members), limit)
				work(member, round)
				limit = patience
			}
		})
	}
	done.Wait()
}

// pass returns when all members have come, or after limit looks.
func (g *gate) pass(members int64, limit int) {
	g.arrived.Add(1)
	for look := 1; g.arrived.Load() < members && look < limit; look++ {
		if look%yieldEvery == 0 {
			runtime.Gosched()
		}
	}
}
