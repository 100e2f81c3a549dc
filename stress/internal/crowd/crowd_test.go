package crowd

import (
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

// TestMembersMeet looks for rounds in which both members are inside of their work at once, which is
// what the package is for.
func TestMembersMeet(t *testing.T) {
	const rounds, batches = 500, 200
	var met int64
	for batch := 0; batch < batches && met < 100; batch++ {
		inside := make([]atomic.Int64, rounds)
		var both atomic.Int64
		Meet(2, rounds, func(_, round int) {
			if inside[round].Add(1) == 2 {
				both.Add(1)
			}
			for range 20 {
				inside[round].Load()
			}
			inside[round].Add(-1)
		})
		met += both.Load()
	}
	require.GreaterOrEqual(t, met, int64(100), "in %d rounds", batches*rounds)
}
