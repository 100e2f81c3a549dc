package gcra

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
)

// rounds returns how often to repeat: often, or a fifth of that under the race detector, whose
// builds have no native pair, or where the tests were asked to be short.
func rounds(often int) int {
	if testing.Short() || !tallyring.PairLockFree() {
		return often/5 + 1
	}
	return often
}

// reached returns 1 where what it is given is true: it counts.
func reached(it bool) int {
	if it {
		return 1
	}
	return 0
}

// anyShape returns a shape that NewRate takes, of any size: each value has any number of bits.
func anyShape(rng *rand.Rand) shape {
	for {
		s := shape{
			events: 1 + rng.Uint64()>>(rng.IntN(63)+1),
			per:    time.Duration(1 + rng.Int64()>>rng.IntN(63)),
			burst:  1 + rng.Uint64()>>(rng.IntN(63)+1),
		}
		if check(s.events, s.per, s.burst) == nil {
			return s
		}
	}
}
