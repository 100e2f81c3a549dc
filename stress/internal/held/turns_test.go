package held

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// turnPoints are the steps by which a limiter turns to a newer bucket: out of shared mode by a fold
// that seals, out of exact mode by a seal; then both carry, and move on.
var turnPoints = map[string][]tallyring.Point{
	"shared": {
		tallyring.LimiterClose, tallyring.LimiterFold, tallyring.RingCarry, tallyring.LimiterMove,
	},
	"exact": {tallyring.LimiterSeal, tallyring.RingCarry, tallyring.LimiterMove},
}

// eachTurn runs a test for each step of a turn, with a limiter of three buckets.
func eachTurn(t *testing.T, test func(t *testing.T, l limiter, p tallyring.Point)) {
	for mode, points := range turnPoints {
		for _, p := range points {
			t.Run(fmt.Sprint(mode, "/", name(p)), func(t *testing.T) {
				l := newExact
				if mode == "shared" {
					l = newShared
				}
				test(t, l(t, 3), p)
			})
		}
	}
}

// TestStalledTurn stops a goroutine in the middle of a turn, before each of its swaps. Meanwhile
// others are denied without a swap, are admitted in the new bucket up to exactly the limit, and
// turn on. When it wakes, its swap changes nothing; then its own event is decided on.
func TestStalledTurn(t *testing.T) {
	for ahead := 1; ahead < 5; ahead++ {
		eachTurn(t, func(t *testing.T, l limiter, p tallyring.Point) {
			count := l.Read(second(begun)).High
			allowed := false
			turner := l.actor("the turner", func() { allowed = l.Allow(second(begun+1), 1) }).to(p)
			require.Equal(t, count, l.Read(second(begun+1)).High, "a turn changes no count")
			denial := l.runAt(1, func() {
				require.False(t, l.Allow(second(begun+1),
					l.limit-count+1))
			})
			for _, swap := range []tallyring.Point{
				tallyring.LimiterSpend, tallyring.LimiterCount, tallyring.LimiterClose,
				tallyring.LimiterFold, tallyring.LimiterSeal, tallyring.LimiterMove,
				tallyring.RingCarry,
			} {
				require.Zero(t, denial.passed[swap], "a denial came to %v", name(swap))
			}
			now := second(begun + ahead)
			if ahead > 2 {
				count = 0 // it has left the window
			}
			l.runAt(2, func() { require.True(t, l.Allow(now, 2)) })
			count += 2
			turner.wakes(l.look(begun + ahead))
			if ahead%2 == 0 {
				turner.end()
				require.True(t, allowed, "there is room")
				l.fills(now, count+1)
				return
			}
			l.fills(now, count)
			turner.end()
			require.False(t, allowed, "late, and nothing is left")
			require.Equal(t, l.limit, l.Read(now).High)
		})
	}
}

// TestAdmissionAgainstSeal takes both orders, in exact mode, of an admission and of the swap that
// seals its bucket, which have both loaded the center; and in shared mode of a spend and of the
// close on the way to that. If the admission is first, its count is carried. If the other is
// first, it fails, and is counted in the new bucket, late.
func TestAdmissionAgainstSeal(t *testing.T) {
	for verb, ask := range verbs {
		for _, shared := range []bool{false, true} {
			bothOrders(t, verb, "seal", func(t *testing.T, admissionFirst bool) {
				l, swap, seal := newExact(t, 3), tallyring.LimiterCount, tallyring.LimiterSeal
				if shared {
					l, swap, seal = newShared(t, 3), tallyring.LimiterSpend, tallyring.LimiterClose
				}
				count := l.Read(second(begun)).High
				admission := l.seated(0, verb, func() { require.True(t, ask(l, second(begun), 2)) })
				admission.to(swap)
				turner := l.actor("the turner", func() {
					require.True(t, l.Allow(second(begun+1),
						1))
				})
				turner.to(seal)
				if admissionFirst {
					admission.end()
					turner.end()
				} else {
					turner.to(tallyring.RingCarry)
					admission.end()
					turner.end()
				}
				newer := l.Read(second(begun + 3)).High // begun has left the window
				require.Equal(t, 1+2*bit(!admissionFirst), newer)
				l.fills(second(begun+1), count+3)
			})
		}
	}
}
