package held

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// inserters are two inserters of one key whose clocks differ by a nanosecond, so that they see
// different free cells: for the fast one the first cell has expired, for the slow one not.
type inserters struct {
	keys
	fast, slow *actor
	allowed    int // how many of both were admitted
}

// limit is what the key of the inserters may count.
const limit = 5

// newInserters returns both, about to claim.
func newInserters(k keys) *inserters {
	if k.Stats(second(begun)).Live == 0 {
		require.True(k, k.Allow(k.c, second(begun), 1, 9))
	}
	in := &inserters{keys: k}
	insert := func(now tallyring.Tick) func() {
		return func() {
			if k.Allow(k.a, now, 1, limit) {
				in.allowed++
			}
		}
	}
	in.fast = k.actor("the fast one", insert(second(k.end)))
	in.slow = k.actor("the slow one", insert(second(k.end)-1))
	in.fast.to(tallyring.TableClaim)
	in.slow.to(tallyring.TableClaim)
	return in
}

// agree checks, when both have ended, that the key has one cell, and exactly its limit.
func (in *inserters) agree() {
	in.Helper()
	require.Equal(in, 2, in.allowed)
	require.Equal(in, uint64(2), in.Read(in.a, second(in.end)).High)
	for range limit - 2 {
		in.run(func() { require.True(in, in.Allow(in.a, second(in.end), 1, limit)) })
	}
	in.run(func() { require.False(in, in.Allow(in.a, second(in.end), 1, limit)) })
	stats := in.Stats(second(in.end))
	require.Equal(in, uint64(1), stats.Live, "%+v", stats)
}

// TestOneOfTwoClaimsIsSettled takes the argument by which no key gets two cells through its cases.
// One of two inserters has claimed and scanned, and is about to settle its cell, when the other
// claims. If the first one settles, the other sees that, and kills its own claim. If the other goes
// on first, it sees the first one's claim, and one of the two is killed, whichever lies later: then
// the first one's swap fails.
func TestOneOfTwoClaimsIsSettled(t *testing.T) {
	for _, fastClaims := range []bool{true, false} { // before the other one
		bothOrders(t, "settling", "the other", func(t *testing.T, settles bool) {
			eachTable(t, func(k keys) {
				in := newInserters(k)
				one, other := in.fast, in.slow
				if !fastClaims {
					one, other = in.slow, in.fast
				}
				one.to(tallyring.TableCommit)
				other.to(tallyring.TableLooked) // it has claimed
				if settles {
					one.end()
					other.end()
					require.Positive(k, other.passed[tallyring.TableKill])
				} else {
					other.end()
					require.Positive(k, other.passed[tallyring.TableKill])
					require.Equal(k, 1, other.passed[tallyring.TableCommit])
					one.wakes(k.look(k.end-1, k.a))
					one.end()
				}
				in.agree()
			})
		})
	}
}

// TestLaterClaimGivesWay lets an inserter whose claim lies later go on to settle it, and the other
// claim a cell before that. Its second scan sees that claim: it gives way, and settles the other
// one's. If its second scan was first, the other kills its claim.
func TestLaterClaimGivesWay(t *testing.T) {
	bothOrders(t, "scan", "claim", func(t *testing.T, scanFirst bool) {
		eachTable(t, func(k keys) {
			in := newInserters(k)
			in.slow.to(tallyring.TableResolve)
			if scanFirst {
				in.slow.to(tallyring.TableCommit)
			}
			in.fast.to(tallyring.TableLooked) // it has claimed
			if scanFirst {
				in.fast.end()
				require.Positive(k, in.fast.passed[tallyring.TableKill])
				in.slow.end()
			} else {
				in.slow.end()
				in.fast.end()
			}
			require.Zero(k, k.Stats(second(k.end)).Farthest, "the first in probe order is settled")
			in.agree()
		})
	})
}

// threeCells is newInserters with a cell between the two that are claimed, which another key holds.
// A third inserter has scanned the first two cells, and not the slow one's.
func threeCells(k keys) (in *inserters, third *actor) {
	for _, key := range []uint64{k.c, k.b} {
		require.True(k, k.Allow(key, second(begun), 1, 9))
	}
	require.True(k, k.Allow(k.b, second(k.end), 1, 9))
	in = newInserters(k)
	third = k.actor("the third", func() {
		require.True(k, k.Allow(k.a, second(k.end)-1, 1, limit))
	})
	for range 3 { // at home, and then the first two cells
		third.to(tallyring.TableLooked)
	}
	return in, third
}

// TestPendingCellBesideASettledOne lets one scan miss a cell that is settled behind its back, and
// find the claim of the slow one farther on, which was made after that. The second scan finds the
// settled cell, and the claim is killed.
func TestPendingCellBesideASettledOne(t *testing.T) {
	eachTable(t, func(k keys) {
		in, third := threeCells(k)
		in.fast.end()
		in.slow.to(tallyring.TableLooked) // it has claimed
		third.end()
		require.Equal(k, 1, third.passed[tallyring.TableResolve])
		require.Equal(k, 1, third.passed[tallyring.TableKill])
		require.Zero(k, third.passed[tallyring.TableCommit])
		in.slow.wakes(k.look(k.end-1, k.a, k.b))
		in.slow.end()
		k.has(k.a, second(k.end), 3)
		require.Equal(k, uint64(2), k.Stats(second(k.end)).Live)
	})
}

// TestDeadCellIsClaimedAgain lets the author of a claim sleep while that is killed, and while an
// inserter of the same key, by the same clock, claims the dead cell again. The first one's swap
// does not settle that claim: it is not the one that it saw.
func TestDeadCellIsClaimedAgain(t *testing.T) {
	eachTable(t, func(k keys) {
		in, third := threeCells(k)
		in.slow.to(tallyring.TableCommit)
		in.fast.end() // it has killed the slow one's claim, and settled its own
		third.to(tallyring.TableClaim).to(tallyring.TableLooked)
		require.Equal(k, uint64(1), k.Stats(second(k.end)).Pending)
		in.slow.wakes(k.look(k.end-1, k.a, k.b))
		in.slow.end()
		third.end()
		k.has(k.a, second(k.end), 3)
		require.Equal(k, uint64(2), k.Stats(second(k.end)).Live)
	})
}

// TestKillAgainstSettling takes both orders of the kill of a claim and the swap that settles it,
// which have both loaded it. If the kill is first, it is settled no more. If it is settled first,
// the kill fails, and its author finds the key settled.
func TestKillAgainstSettling(t *testing.T) {
	bothOrders(t, "kill", "settling", func(t *testing.T, killFirst bool) {
		eachTable(t, func(k keys) {
			in := newInserters(k)
			in.slow.to(tallyring.TableCommit)
			in.fast.to(tallyring.TableKill) // of the slow one's claim
			if killFirst {
				in.fast.to(tallyring.TableCommit)
				in.slow.wakes(k.look(k.end-1, k.a))
				require.Zero(k, k.Read(k.a, second(k.end)).High)
				in.slow.end()
				in.fast.end()
			} else {
				in.slow.end()
				in.fast.end()
				require.Zero(k, in.fast.passed[tallyring.TableCommit])
				require.Equal(k, 2, in.fast.passed[tallyring.TableKill], "its own as well")
			}
			in.agree()
		})
	})
}

// TestBothSettleOneClaim lets an inserter and its helper settle the same claim. The second swap
// fails, though the cell counts already.
func TestBothSettleOneClaim(t *testing.T) {
	bothOrders(t, "owner", "helper", func(t *testing.T, ownerFirst bool) {
		eachTable(t, func(k keys) {
			var cast [2]*actor
			for i := range cast {
				cast[i] = k.actor([]string{"the owner", "the helper"}[i], func() {
					require.True(k, k.Allow(k.a, second(begun), 1, limit))
				}).to(tallyring.TableCommit)
			}
			require.Zero(k, cast[1].passed[tallyring.TableClaim])
			if !ownerFirst {
				cast[0], cast[1] = cast[1], cast[0]
			}
			cast[0].end()
			cast[1].wakes(k.look(begun, k.a))
			cast[1].end()
			k.has(k.a, second(begun), 2)
		})
	})
}

// TestStalledInserter stops an inserter at every step, in an empty table and in one whose first
// cell has expired. Others of the same key insert it and are admitted up to the limit, and other
// keys are not disturbed. When it wakes, it is denied.
func TestStalledInserter(t *testing.T) {
	for _, p := range []tallyring.Point{
		tallyring.TableLooked, tallyring.TableRaise, tallyring.TableClaim, tallyring.TableResolve,
		tallyring.TableCommit, theEnd,
	} {
		for _, expired := range []bool{false, true} {
			if p == tallyring.TableRaise && !expired {
				continue // nobody's time has passed
			}
			eachTable(t, func(k keys) {
				if expired {
					require.True(k, k.Allow(k.b, second(begun), 1, 9))
				}
				allowed := false
				inserter := k.actor("the inserter", func() {
					allowed = k.Allow(k.a, second(k.end), 1, limit)
				})
				if p == theEnd { // it is stopped when it has claimed, and scans again
					inserter.to(tallyring.TableClaim).to(tallyring.TableLooked)
				} else {
					inserter.to(p)
				}
				require.Zero(k, k.Read(k.a, second(k.end)).High)
				peek := k.run(func() { require.True(k, k.Allow(k.a, second(k.end), 0, limit)) })
				require.Zero(k,
					peek.passed[tallyring.TableClaim]+peek.passed[tallyring.TableCommit])
				for range limit {
					k.run(func() { require.True(k, k.Allow(k.a, second(k.end), 1, limit)) })
					k.run(func() { require.True(k, k.Allow(k.c, second(k.end), 1, limit)) })
				}
				k.run(func() { require.False(k, k.Allow(k.a, second(k.end), 1, limit)) })
				inserter.end()
				require.False(k, allowed)
				k.has(k.a, second(k.end), limit)
				k.has(k.c, second(k.end), limit)
			})
		}
	}
}

// TestClaimsSettledByNobody leaves a claim behind for a whole window. It expires like any cell,
// another key takes it over, and when its author wakes its swap changes nothing.
func TestClaimsSettledByNobody(t *testing.T) {
	eachTable(t, func(k keys) {
		inserter := k.actor("the inserter", func() {
			require.True(k, k.Allow(k.a, second(begun), 1, limit))
		}).to(tallyring.TableCommit)
		taker := k.run(func() { require.True(k, k.Allow(k.b, second(k.end), 1, limit)) })
		require.Equal(k, 1, taker.passed[tallyring.TableRaise])
		require.Equal(k, uint64(1), k.Stats(second(k.end)).TakenOver)
		inserter.wakes(k.look(begun, k.a, k.b))
		inserter.end()
		k.has(k.b, second(k.end), 1)
		k.has(k.a, second(k.end), 1)
	})
}

// TestKilledClaimIsNeverSettled lets the author of a claim sleep while that is killed, and while
// its dead cell is claimed by another key in the same bucket. Its swap changes nothing, neither
// when that claim is pending nor when it is settled.
func TestKilledClaimIsNeverSettled(t *testing.T) {
	for _, settled := range []bool{false, true} {
		eachTable(t, func(k keys) {
			in := newInserters(k)
			in.slow.to(tallyring.TableCommit)
			in.fast.end() // it has killed the slow one's claim
			other := k.actor("the other key", func() {
				require.True(k, k.Allow(k.b, second(k.end)-1, 1, limit))
			}).to(tallyring.TableCommit)
			require.Equal(k, 1, other.passed[tallyring.TableClaim])
			if settled {
				other.end()
			}
			in.slow.wakes(k.look(k.end-1, k.a, k.b))
			in.slow.end()
			if !settled {
				other.end()
			}
			stats := k.Stats(second(k.end))
			require.Equal(k, [2]uint64{2, 0}, [2]uint64{stats.Live, stats.Pending},
				"in one dead cell")
			k.has(k.b, second(k.end), 1)
			require.Equal(k, uint64(2), k.Read(k.a, second(k.end)).High)
		})
	}
}

// TestLateTickAgainstTakeover takes the steps of a takeover one by one: a key that has spent its
// limit comes by a late tick. While it has its cell, it is denied; when it has lost it, what it
// gets is counted where the spent limit counts no more.
func TestLateTickAgainstTakeover(t *testing.T) {
	for _, p := range []tallyring.Point{
		tallyring.TableRaise, tallyring.TableClaim, tallyring.TableResolve,
		tallyring.TableCommit, theEnd,
	} {
		eachTable(t, func(k keys) {
			require.True(k, k.Allow(k.a, second(begun), limit, limit))
			taker := k.actor("the taker", func() {
				require.True(k, k.Allow(k.b, second(k.end), 1, limit))
			})
			if p == theEnd {
				taker.end()
			} else {
				taker.to(p)
			}
			d := tallyring.Decision{}
			k.run(func() { d = k.Take(k.a, second(k.end)-1, limit, limit) })
			lost := p != tallyring.TableRaise && p != tallyring.TableClaim
			require.Equal(k, lost, d.Allowed)
			if lost {
				require.Equal(k, second(k.end), d.At)
			}
			if p != theEnd {
				taker.end()
			}
			k.run(func() { d = k.Take(k.a, second(k.end)-1, limit, limit) })
			require.Equal(k, !lost, d.Allowed, "once, and no more")
			require.Equal(k, uint64(limit), k.Read(k.a, second(k.end)).High)
			k.run(func() { require.False(k, k.Allow(k.a, second(k.end), 1, limit)) })
			k.has(k.b, second(k.end), 1)
		})
	}
}

// TestClaimLeftBesideASettledCell stops an inserter when it has claimed a cell, while its key has a
// settled one in which it has spent its limit. That expires, and a taker is about to claim it, or
// has. If it has not, the inserter finds it, and its own claim is killed. If it has, the inserter
// settles its claim, no earlier than where the limit counts no more.
func TestClaimLeftBesideASettledCell(t *testing.T) {
	bothOrders(t, "inserter", "takeover", func(t *testing.T, inserterFirst bool) {
		eachTable(t, func(k keys) {
			in := newInserters(k)
			in.fast.end()
			k.run(func() { require.True(k, k.Allow(k.a, second(k.end), limit-1, limit)) })
			in.slow.to(tallyring.TableLooked) // it has claimed, beside the settled cell
			later := k.end + k.slots
			taker := k.actor("the taker", func() {
				require.True(k, k.Allow(k.b, second(later), 1, limit))
			}).to(tallyring.TableClaim)
			if inserterFirst {
				in.slow.end()
				require.Equal(k, 1, in.allowed, "both by one limit")
				require.Equal(k, 1, in.slow.passed[tallyring.TableKill])
				taker.end()
			} else {
				taker.end()
				in.slow.end()
				require.Equal(k, 2, in.allowed)
				require.Equal(k, 1, in.slow.passed[tallyring.TableCommit])
				require.Equal(k, uint64(1), k.Read(k.a, second(later)).High)
				require.Equal(k, uint64(1), k.Read(k.a, second(k.end)-1).High)
			}
			k.has(k.b, second(later), 1)
		})
	})
}

// TestTwoRaises lets two takeovers raise the horizon from the same value, in either order. The
// later bucket stands, so that a key that comes back by a late tick is counted there.
func TestTwoRaises(t *testing.T) {
	bothOrders(t, "lower", "higher", func(t *testing.T, lowerFirst bool) {
		eachTable(t, func(k keys) {
			for bucket := begun; bucket < begun+2; bucket++ {
				require.True(k, k.Allow(k.b, second(bucket), 1, wide))
			}
			require.True(k, k.Allow(k.a, second(begun), 1, wide))
			lower := k.actor("lower", func() {
				require.True(k, k.Allow(k.c, second(k.end), 1, limit)) // the cell of a
			}).to(tallyring.TableRaise)
			k.run(func() {
				require.True(k, k.Allow(k.a, second(k.end), 1,
					wide))
			}) // is in use again
			higher := k.actor("higher", func() {
				require.True(k, k.Allow(k.d, second(k.end+1), 1, limit)) // the cell of b
			}).to(tallyring.TableRaise)
			first, last := lower, higher
			if !lowerFirst {
				first, last = higher, lower
			}
			first.to(tallyring.TableClaim)
			last.to(tallyring.TableClaim)
			if lowerFirst {
				require.Equal(k, 2, last.passed[tallyring.TableRaise], "the first swap must fail")
			}
			first.end()
			last.end()
			var d tallyring.Decision
			k.run(func() { d = k.Take(k.b, second(k.end), 1, limit) })
			require.True(k, d.Allowed)
			require.Equal(k, second(k.end+1), d.At)
		})
	})
}

// TestReachIsExtendedBeforeTheClaim places a key two cells from home, farther than any of that home
// was before, while another inserter of the key sees a nearer cell that is free by its clock. Each
// step of the first one comes before all of the second, and after its claim. No order hides the
// first one's claim.
func TestReachIsExtendedBeforeTheClaim(t *testing.T) {
	for _, p := range []tallyring.Point{
		tallyring.TableExtend, tallyring.TableClaim, tallyring.TableResolve, tallyring.TableCommit,
	} {
		bothOrders(t, "far", "near", func(t *testing.T, farFirst bool) {
			for _, slots := range []int{3, 7} {
				k := newKeys(t, slots, 4)
				require.True(k, k.Allow(k.b, second(begun+1), 1, limit))
				require.True(k, k.Allow(k.c, second(begun), 1, limit))
				allowed := 0
				insert := func(now tallyring.Tick) func() {
					return func() {
						if k.Allow(k.a, now, 1, limit) {
							allowed++
						}
					}
				}
				far := k.actor("far", insert(second(k.end)-1))
				near := k.actor("near", insert(second(k.end)))
				far.to(tallyring.TableExtend)
				if !farFirst {
					near.to(tallyring.TableClaim)
				}
				if p != tallyring.TableExtend {
					far.to(p)
				}
				near.end()
				require.Positive(k,
					near.passed[tallyring.TableClaim]+near.passed[tallyring.TableCommit])
				far.end()
				require.Equal(k, 2, allowed)
				k.has(k.a, second(k.end), 2)
				require.Equal(k, uint64(2), k.Stats(second(k.end)).Live)
			}
		})
	}
}

// TestStaleRotationInATakenCell stops a goroutine in the middle of a rotation of a key's ring, or
// of its sums, and lets another key take the cell over. When the first one wakes, nothing of what
// it does there counts for the new key, in any bucket.
func TestStaleRotationInATakenCell(t *testing.T) {
	for _, p := range []tallyring.Point{
		tallyring.RingSeal, tallyring.RingCarry, tallyring.RingMove, tallyring.RingCount,
		tallyring.RingSum, tallyring.RingStore, tallyring.RingRefund, tallyring.RingChanged,
		tallyring.RingSpoil,
	} {
		for _, next := range []tallyring.Point{tallyring.TableResolve, theEnd} {
			for _, slots := range []int{3, 7} {
				if p >= tallyring.RingChanged && slots == 7 {
					continue // its cells have no sums
				}
				staleRotation(newKeys(t, slots, 2), p, next)
			}
		}
	}
}

func staleRotation(k keys, p, next tallyring.Point) {
	require.True(k, k.Allow(k.a, second(begun), 2, limit))
	stale := k.actor("the stale one", func() { k.Allow(k.a, second(begun+1), 1, limit) })
	if tallyring.RingRefund <= p && p <= tallyring.RingSpoil {
		require.True(k, k.Allow(k.a, second(begun+1), 2, limit))
		stale = k.actor("the stale one", func() { k.Refund(k.a, second(begun), 1) })
	}
	stale.to(p)
	end := begun + 1 + k.slots
	taker := k.actor("the taker", func() { require.True(k, k.Allow(k.b, second(end), 2, limit)) })
	if next == theEnd {
		taker.end()
	} else {
		taker.to(next)
	}
	require.Equal(k, uint64(1), k.Stats(second(end)).TakenOver)
	stale.wakes(k.look(end, k.b))
	stale.end()
	if next != theEnd {
		taker.end()
	}
	for i := range k.slots {
		now := second(end + i)
		require.Equal(k, 2, int(k.Read(k.b, now).High))
		k.run(func() { require.False(k, k.Allow(k.b, now, limit-1, limit)) })
	}
	k.run(func() { require.True(k, k.Allow(k.b, second(end+1), 1, limit)) })
	k.has(k.b, second(end+1), 3)
}
