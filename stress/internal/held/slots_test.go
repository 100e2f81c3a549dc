package held

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// TestLateAddAgainstCopy takes both orders of a late add to the oldest bucket and of the copy that
// takes its slot, which have both loaded it. If the add is first, the copy fails and is made again,
// over it; the bucket has left the window with all that it counted. If the copy is first, the add
// fails, and is dropped.
func TestLateAddAgainstCopy(t *testing.T) {
	bothOrders(t, "add", "copy", func(t *testing.T, addFirst bool) {
		eachRing(t, func(r ring) {
			counted := !addFirst
			late := r.actor("the late add", func() {
				counted = r.Add(tick(newest-r.slots+1), 7)
			}).to(tallyring.RingLate)
			rotator := r.rotator().to(tallyring.RingCarry)
			if addFirst {
				late.end()
				rotator.to(tallyring.RingCarry) // the first one failed
			} else {
				rotator.to(tallyring.RingMove)
				late.end()
			}
			require.Equal(r, addFirst, counted)
			rotator.end()
			require.Equal(r, r.held(1)+1, r.sum(1))
		})
	})
}

// TestRefundAgainstCopy is the same for a refund of the oldest bucket.
func TestRefundAgainstCopy(t *testing.T) {
	bothOrders(t, "refund", "copy", func(t *testing.T, refundFirst bool) {
		eachRing(t, func(r ring) {
			refund := r.actor("the refund", func() { r.Refund(tick(newest-r.slots+1), 7) })
			refund.to(tallyring.RingRefund)
			rotator := r.rotator().to(tallyring.RingCarry)
			if refundFirst {
				refund.end()
				rotator.to(tallyring.RingCarry)
			} else {
				rotator.to(tallyring.RingMove)
				refund.end()
			}
			rotator.end()
			require.Equal(r, r.held(1)+1, r.sum(1))
		})
	})
}

// TestCopyIsRefunded takes back from a sealed bucket, before its copy is made and after, while the
// rotator is stalled with the count in hand. The refund reaches the copy, and the rotator's late
// copy does not undo it.
func TestCopyIsRefunded(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.RingCarry, tallyring.RingMove} {
		eachRing(t, func(r ring) {
			rotator := r.rotator().to(p)
			r.run(func() { r.Refund(tick(newest), 2) })
			require.Equal(r, r.held(1)-2, r.sum(1))
			rotator.wakes(r.look(1))
			rotator.end()
			require.Equal(r, r.held(1)-2+1, r.sum(1))
		})
	}
}

// TestChangesOfOneSlot lets a late add and a refund load the same slot. Both take effect, in either
// order, and one that finds fewer than it takes back leaves 0.
func TestChangesOfOneSlot(t *testing.T) {
	bothOrders(t, "add", "refund", func(t *testing.T, addFirst bool) {
		for _, back := range []uint64{2, 100} {
			eachRing(t, func(r ring) {
				late := r.actor("the late add", func() {
					require.True(r, r.Add(tick(newest-1),
						7))
				})
				late.to(tallyring.RingLate)
				refund := r.actor("the refund", func() { r.Refund(tick(newest-1), back) })
				refund.to(tallyring.RingRefund)
				left := uint64(11)
				if addFirst {
					late.end()
					refund.end()
					left = left + 7 - min(left+7, back)
				} else {
					refund.end()
					late.end()
					left = left - min(left, back) + 7
				}
				require.Equal(r, r.held(0)-11+left, r.sum(0))
			})
		}
	})
}

// TestStalledLateAdder stops a late add when it has loaded the head, and before its swap, and lets
// the ring turn. When it wakes, it is counted in its own bucket if that is in the window, and
// nowhere otherwise; others are decided on what was counted meanwhile.
func TestStalledLateAdder(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.RingLooked, tallyring.RingLate} {
		for turns := 0; turns < 9; turns++ {
			eachRing(t, func(r ring) { r.stalledLateAdder(p, turns) })
		}
	}
}

func (r ring) stalledLateAdder(p tallyring.Point, turns int) {
	counted := false
	late := r.actor("the late add", func() { counted = r.Add(tick(newest-1), 7) }).to(p)
	for ahead := 1; ahead <= turns; ahead++ {
		room := r.sum(ahead) + 1
		r.run(func() { require.True(r, r.Allow(tick(newest+ahead), 1, room)) })
		r.run(func() { require.False(r, r.Allow(tick(newest+ahead), 1, room)) })
	}
	want := r.sum(turns)
	late.end()
	if turns+1 < r.slots {
		require.True(r, counted)
		want += 7
	}
	require.Equal(r, want, r.sum(turns))
	r.run(func() { require.True(r, r.Allow(tick(newest+turns), 1, want+1)) })
	r.run(func() { require.False(r, r.Allow(tick(newest+turns), 1, want+1)) })
}

// TestStalledRefund is the same for a refund.
func TestStalledRefund(t *testing.T) {
	for turns := 0; turns < 9; turns++ {
		eachRing(t, func(r ring) {
			refund := r.actor("the refund", func() { r.Refund(tick(newest-1), 7) })
			refund.to(tallyring.RingRefund)
			for ahead := 1; ahead <= turns; ahead++ {
				r.run(func() { require.True(r, r.Allow(tick(newest+ahead), 1, wide)) })
			}
			want := r.sum(turns)
			refund.end()
			if turns+1 < r.slots {
				want -= 7
			}
			require.Equal(r, want, r.sum(turns))
		})
	}
}

// TestEmptyHeadTurnsWithoutSeal races the turn of a head that counts nothing with an event in its
// bucket. If the event is first, the turn fails, and carries it. If the turn is first, the event
// fails and is late.
func TestEmptyHeadTurnsWithoutSeal(t *testing.T) {
	for _, e := range events[:4] {
		bothOrders(t, "event", "turn", func(t *testing.T, eventFirst bool) {
			eachRing(t, func(r ring) {
				r.Refund(tick(newest), inNewest)
				event := r.actor(e.name, func() { e.do(r) }).to(e.point)
				rotator := r.rotator().to(tallyring.RingMove)
				require.Zero(r, rotator.passed[tallyring.RingSeal])
				if eventFirst {
					event.end()
					rotator.end()
					require.Equal(r, 1, rotator.passed[tallyring.RingSeal])
				} else {
					rotator.end()
					event.end()
					require.Zero(r, rotator.passed[tallyring.RingSeal])
				}
				require.Equal(r, int(r.held(1))-inNewest+e.more+1, int(r.sum(1)))
			})
		})
	}
}

// TestTagThatHasWrapped copies over a tag from so long ago that it looks newer, which the head,
// still sealed, disproves. The copier is stalled before its swap; another copies, and the ring
// turns until the slot holds newer buckets. The first one's swap then changes nothing.
func TestTagThatHasWrapped(t *testing.T) {
	const decade = int64(10*365*24*time.Hour) / width // in buckets
	at := func(bucket int64) tallyring.Tick { return tallyring.Tick(bucket) * width }
	for _, slots := range []int{2, 3, 4} {
		w := tallyring.Window{Slots: slots, Width: width}
		layout, err := atomicring.NewTagged(w, 0)
		require.NoError(t, err)
		late := newest + decade*5/2
		half := int64(1) << (63 - layout.IndexShift())
		require.Greater(t, late-newest-int64(slots), half)
		for turns := 1; turns < 6; turns++ {
			s := newStage(t)
			r, err := atomicring.NewFor(w, wide)
			require.NoError(t, err)
			for i := range slots {
				require.True(t, r.Add(tick(newest+i), 9))
			}
			// A head that counts nothing is not copied, so that the slots stay as they are.
			r.Refund(tick(newest+slots-1), 9)
			require.True(t, r.Add(at(newest+decade*3/2), 3))
			r.Refund(at(newest+decade*3/2), 3)
			require.True(t, r.Add(at(late), 5))

			rotator := s.actor("the rotator", func() { r.Add(at(late+1), 1) })
			rotator.to(tallyring.RingCarry)
			for ahead := 1; ahead <= turns; ahead++ {
				s.run(func() { require.True(t, r.Allow(at(late+int64(ahead)), 1, wide)) })
			}
			want := uint64(min(turns, slots))
			if turns < slots {
				want += 5
			}
			look := func() any { return r.Read(at(late + int64(turns))) }
			require.Equal(t, want, r.Read(at(late+int64(turns))).High, "%d slots, %d turns",
				slots, turns)
			rotator.wakes(look)
		}
	}
}
