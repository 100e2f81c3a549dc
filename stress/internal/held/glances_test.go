package held

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// A glance is a decision or a reading that swaps nothing, and so has to look at the head twice.
type glance struct {
	name string
	do   func(r ring, limit uint64) uint64 // what it found: 0 and 1 for denied and admitted
}

var glances = []glance{
	{"Allow", func(r ring, limit uint64) uint64 { return bit(r.Allow(tick(newest), 1, limit)) }},
	{"Take", func(r ring, limit uint64) uint64 {
		return bit(r.Take(tick(newest), 1, limit).Allowed)
	}},
	{"peek", func(r ring, limit uint64) uint64 { return bit(r.Allow(tick(newest), 0, limit-1)) }},
	{"Read", func(r ring, _ uint64) uint64 { return r.Read(tick(newest)).High }},
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestGlanceAgainstRefund takes both orders of a refund and of the second look at the head with
// which a denial or a reading ends. If the look is first, it was denied before. If the refund is
// first, it looks again, and finds room. With the slots summed before and not.
func TestGlanceAgainstRefund(t *testing.T) {
	for _, g := range glances {
		for _, summed := range []bool{false, true} {
			bothOrders(t, g.name, "refund", func(t *testing.T, glanceFirst bool) {
				eachRing(t, func(r ring) {
					held := r.held(0)
					if summed {
						r.run(func() { require.True(r, r.Allow(tick(newest), 1, wide)) })
						held++
					}
					var found uint64
					glance := r.actor(g.name, func() { found = g.do(r, held) })
					glance.to(tallyring.RingConfirm)
					if glanceFirst {
						glance.end()
					}
					r.run(func() { r.Refund(tick(newest), 1) })
					if !glanceFirst {
						glance.end()
						require.Greater(r, glance.passed[tallyring.RingLooked], 1)
					}
					want := bit(!glanceFirst)
					if g.name == "Read" {
						want = held - bit(!glanceFirst)
					}
					require.Equal(r, want, found)
				})
			})
		}
	}
}

// TestGlanceAgainstTurn stops a denial or a reading when it has loaded the head, and when it has
// read the slots, and lets the ring turn, which writes over the oldest slot. What it has read
// belongs to no one moment then, and it looks again: it is decided as of the bucket after.
func TestGlanceAgainstTurn(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.RingLooked, tallyring.RingConfirm} {
		for _, g := range glances {
			for turns := 1; turns < 9; turns++ {
				eachRing(t, func(r ring) {
					var found uint64
					glance := r.actor(g.name, func() { found = g.do(r, r.held(0)) }).to(p)
					for ahead := 1; ahead <= turns; ahead++ {
						r.run(func() { require.True(r, r.Add(tick(newest+ahead), 1)) })
					}
					before := r.sum(turns)
					glance.end()
					require.Greater(r, glance.passed[tallyring.RingLooked], 1)
					if g.name == "Read" {
						require.Equal(r, before, found)
						return
					}
					require.Equal(r, bit(before < r.held(0)), found)
					require.Equal(r, before+found*bit(g.name != "peek"), r.sum(turns))
				})
			}
		}
	}
}
