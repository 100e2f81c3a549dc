package crowd

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEachMemberWorksOncePerRound counts what each member did in each round: a batch that returned
// early, or a member that came twice or not at all, would show, and so would to the race detector a
// batch whose end does not order what members wrote before what the caller reads.
func TestEachMemberWorksOncePerRound(t *testing.T) {
	for members := range 6 {
		const rounds = 50
		worked := make([][rounds]int, members)
		Meet(members, rounds, func(member, round int) { worked[member][round]++ })
		for member := range members {
			for round := range rounds {
				require.Equal(t, 1, worked[member][round], "member %d, round %d", member, round)
			}
		}
	}
}

// TestMembersMeet counts the rounds in which all members are inside of their work at once, which is
// what the package is for. One processor is enough for that, if they let each other in; it also
// makes the count independent of what else the machine does.
func TestMembersMeet(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const members, rounds = 3, 500
	inside := make([]atomic.Int64, rounds)
	var met atomic.Int64
	Meet(members, rounds, func(_, round int) {
		if inside[round].Add(1) == members {
			met.Add(1)
		}
		for look := 0; look < 10 && inside[round].Load() < members; look++ {
			runtime.Gosched()
		}
	})
	require.Greater(t, met.Load(), int64(rounds/2), "of %d rounds", rounds)
}
