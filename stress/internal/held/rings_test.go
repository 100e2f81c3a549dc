package held

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

const (
	width = 1 << 20

	// newest is the bucket of every ring's head at first. It counts inNewest, and the bucket k
	// before it counts 10+k.
	newest   = 100
	inNewest = 5

	// wide is a limit that admits everything here, and that no packed form of this width holds.
	wide = 1 << 20
)

// tick returns the first tick of a bucket.
func tick(bucket int) tallyring.Tick { return tallyring.Tick(bucket) * width }

// ring is a tagged ring, of which every bucket counts something.
type ring struct {
	*stage
	*atomicring.Ring
	slots int
}

func newRing(t testing.TB, slots int) ring {
	r, err := atomicring.NewFor(tallyring.Window{Slots: slots, Width: width}, wide)
	require.NoError(t, err)
	for back := slots - 1; back > 0; back-- {
		require.True(t, r.Add(tick(newest-back), uint64(10+back)))
	}
	require.True(t, r.Add(tick(newest), inNewest))
	return ring{newStage(t), r, slots}
}

func eachRing(t *testing.T, test func(r ring)) {
	for _, slots := range []int{2, 3, 4, 7} {
		t.Run(fmt.Sprintf("slots=%d", slots), func(t *testing.T) { test(newRing(t, slots)) })
	}
}

// bothOrders runs a test with either of two first.
func bothOrders(t *testing.T, one, other string, test func(t *testing.T, oneFirst bool)) {
	t.Run(one+" first", func(t *testing.T) { test(t, true) })
	t.Run(other+" first", func(t *testing.T) { test(t, false) })
}

// held returns what a new ring counts in the window that ends with bucket newest+ahead.
func (r ring) held(ahead int) (sum uint64) {
	for back := 0; back < r.slots-ahead; back++ {
		if back == 0 {
			sum += inNewest
		} else {
			sum += uint64(10 + back)
		}
	}
	return sum
}

// sum returns what the ring counts in the window that ends with bucket newest+ahead.
func (r ring) sum(ahead int) uint64 { return r.Read(tick(newest + ahead)).High }

// look returns all that can be read of the ring from bucket newest+ahead on.
func (r ring) look(ahead int) func() any {
	return func() any {
		var readings []tallyring.Reading
		for i := range r.slots + 1 {
			readings = append(readings, r.Read(tick(newest+ahead+i)))
		}
		return readings
	}
}

// rotator is a goroutine that moves the ring on to bucket newest+1, and then counts 1 there.
func (r ring) rotator() *actor {
	return r.actor("the rotator", func() { require.True(r, r.Add(tick(newest+1), 1)) })
}

// An event is something that changes the newest bucket's count.
type event struct {
	name  string
	point tallyring.Point // where it is about to change the head
	more  int
	do    func(r ring)
}

var events = []event{
	{"Allow", tallyring.RingCount, 2, func(r ring) {
		require.True(r, r.Allow(tick(newest), 2, wide))
	}},
	{"Allow without limit", tallyring.RingCount, 2, func(r ring) {
		require.True(r, r.Allow(tick(newest), 2, tallyring.Unlimited))
	}},
	{"Take", tallyring.RingCount, 2, func(r ring) {
		require.True(r, r.Take(tick(newest), 2, wide).Allowed)
	}},
	{"Add", tallyring.RingCount, 2, func(r ring) { require.True(r, r.Add(tick(newest), 2)) }},
	{"Refund", tallyring.RingRefund, -2, func(r ring) { r.Refund(tick(newest), 2) }},
}

// TestEventAgainstSeal takes both orders of a change of the head and the seal that it races with,
// both of which have loaded the same head. If the event is first, the seal fails and its author
// carries the new count. If the seal is first, the event fails, helps, and counts behind the turn.
func TestEventAgainstSeal(t *testing.T) {
	for _, e := range events {
		t.Run(e.name, func(t *testing.T) {
			bothOrders(t, "event", "seal", func(t *testing.T, eventFirst bool) {
				eachRing(t, func(r ring) {
					event := r.actor(e.name, func() { e.do(r) }).to(e.point)
					rotator := r.rotator().to(tallyring.RingSeal)
					if eventFirst {
						event.end()
						rotator.to(tallyring.RingSeal) // the first one failed
						rotator.end()
						require.Zero(r, event.passed[tallyring.RingMove])
					} else {
						rotator.to(tallyring.RingCarry)
						event.end()
						require.NotZero(r, event.passed[tallyring.RingMove], "it did not help")
						rotator.end()
						require.Equal(r, 1, rotator.passed[tallyring.RingSeal])
					}
					require.Equal(r, int(r.held(1))+e.more+1, int(r.sum(1)))
				})
			})
		})
	}
}

// TestAdmissionsAtTheLimitsEdge lets two events load the same word, of which the limit admits one.
// Whichever swaps first is admitted; the other fails and is denied. Packed rings as well.
func TestAdmissionsAtTheLimitsEdge(t *testing.T) {
	for _, w := range []tallyring.Window{
		{Slots: 1, Width: width}, {Slots: 2, Width: width}, {Slots: 3, Width: width},
	} {
		for _, turns := range []bool{false, true} { // the first of them begins a bucket
			bothOrders(t, "one", "the other", func(t *testing.T, oneFirst bool) {
				s := newStage(t)
				r, err := atomicring.New(w)
				require.NoError(t, err)
				require.True(t, r.Allow(tick(newest), 3, 10))
				now, limit := tick(newest), uint64(4)
				if turns && w.Slots == 1 {
					now, limit = tick(newest+1), 1
				} else if turns {
					now = tick(newest + 1)
				}
				var allowed [2]bool
				one := s.actor("one", func() { allowed[0] = r.Allow(now, 1, limit) })
				other := s.actor("the other", func() { allowed[1] = r.Take(now, 1, limit).Allowed })
				one.to(tallyring.RingCount)
				other.to(tallyring.RingCount)
				if oneFirst {
					one.end()
					other.end()
				} else {
					other.end()
					one.end()
				}
				require.Equal(t, [2]bool{oneFirst, !oneFirst}, allowed, "%+v", w)
				require.Equal(t, limit, r.Read(now).High, "%+v", w)
			})
		}
	}
}

// TestAddAndRefundOfOneWord lets an add and a refund load the same packed word. Both take effect,
// in either order.
func TestAddAndRefundOfOneWord(t *testing.T) {
	bothOrders(t, "add", "refund", func(t *testing.T, addFirst bool) {
		s := newStage(t)
		r, err := atomicring.New(tallyring.Window{Slots: 2, Width: width})
		require.NoError(t, err)
		require.True(t, r.Add(tick(newest), 5))
		add := s.actor("add", func() { require.True(t, r.Add(tick(newest), 7)) })
		refund := s.actor("refund", func() { r.Refund(tick(newest), 2) })
		add.to(tallyring.RingCount)
		refund.to(tallyring.RingCount)
		if addFirst {
			add.end()
			refund.end()
			require.Equal(t, 2, refund.passed[tallyring.RingCount])
		} else {
			refund.end()
			add.end()
			require.Equal(t, 2, add.passed[tallyring.RingCount])
		}
		require.Equal(t, uint64(10), r.Read(tick(newest)).High)
	})
}

// TestStalledRotator stops a goroutine in the middle of a rotation, before each of its swaps.
// Meanwhile others are denied by loads alone, then as many are admitted as there is room for, and
// the ring turns as often as it likes. When the first one wakes, its swap changes nothing; then its
// own event is counted or dropped.
func TestStalledRotator(t *testing.T) {
	for _, p := range []tallyring.Point{
		tallyring.RingSeal, tallyring.RingCarry, tallyring.RingMove,
	} {
		t.Run(name(p), func(t *testing.T) {
			for turns := 1; turns < 9; turns++ {
				eachRing(t, func(r ring) { r.stalledRotator(p, turns) })
			}
		})
	}
}

func (r ring) stalledRotator(p tallyring.Point, turns int) {
	counted := true
	rotator := r.actor("the rotator", func() { counted = r.Add(tick(newest+1), 1) }).to(p)
	limit := r.held(1) + 3
	denial := r.run(func() { require.False(r, r.Allow(tick(newest+1), 4, limit)) })
	require.Zero(r, denial.swaps(), "a denial swapped something: %v", denial.way())
	require.Equal(r, r.held(1), r.sum(1), "a rotation changes no count")
	for range 3 {
		r.run(func() { require.True(r, r.Allow(tick(newest+1), 1, limit)) })
	}
	r.run(func() { require.False(r, r.Allow(tick(newest+1), 1, limit)) })
	r.run(func() { require.False(r, r.Allow(tick(newest), 1, limit)) })
	for ahead := 2; ahead <= turns; ahead++ {
		r.run(func() { require.True(r, r.Allow(tick(newest+ahead), 1, wide)) })
	}
	rotator.wakes(r.look(turns))
	before := r.sum(turns)
	rotator.end()
	if turns <= r.slots { // bucket newest+1 is in the window still
		before++
	}
	require.Equal(r, turns <= r.slots, counted, "%d turns", turns)
	require.Equal(r, before, r.sum(turns))
}

// swaps returns how often the actor has come to a point at which it was about to change a ring.
func (a *actor) swaps() (times int) {
	for _, p := range []tallyring.Point{
		tallyring.RingCount, tallyring.RingSeal, tallyring.RingCarry, tallyring.RingMove,
		tallyring.RingLate, tallyring.RingRefund, tallyring.RingSpoil, tallyring.RingStore,
	} {
		times += a.passed[p]
	}
	return times
}
