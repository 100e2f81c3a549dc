package held

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// A late change is something that changes an older bucket.
type change struct {
	name  string
	point tallyring.Point
	more  int
	do    func(r ring, bucket int)
}

var changes = []change{
	{"late add", tallyring.RingLate, 7, func(r ring, bucket int) {
		require.True(r, r.Add(tick(bucket), 7))
	}},
	{"refund", tallyring.RingRefund, -7, func(r ring, bucket int) { r.Refund(tick(bucket), 7) }},
}

// lateChange is a goroutine that is about to make one.
type lateChange struct {
	*actor
	point  tallyring.Point // where it is about to change the slot
	bucket int
	more   int
}

// eachChange runs a test for each change, of the oldest bucket and of the one before the newest,
// which are summed apart.
func eachChange(t *testing.T, test func(r ring, c lateChange)) {
	for _, c := range changes {
		for _, slots := range []int{2, 3, 4, 7} {
			for _, bucket := range []int{newest - 1, newest - slots + 1} {
				r := newRing(t, slots)
				change := r.actor(c.name, func() { c.do(r, bucket) })
				test(r, lateChange{change, c.point, bucket, c.more})
				r.leave()
			}
		}
	}
}

// after returns what the ring counts in the window that ends with bucket newest+ahead once the
// change is made.
func (r ring) after(c lateChange, ahead int) int {
	sum := int(r.held(ahead))
	if c.bucket > newest+ahead-r.slots {
		sum += c.more
	}
	return sum
}

// summer is a goroutine that is admitted in the newest bucket, counts 1, and then sums the slots.
func (r ring) summer() *actor {
	return r.actor("the summer", func() { require.True(r, r.Allow(tick(newest), 1, wide)) })
}

// holds checks that decisions in bucket newest+ahead are taken on exactly that count, twice: from
// the slots or from sums, whatever there is.
func (r ring) holds(ahead int, count int) {
	r.Helper()
	for i := range uint64(2) {
		limit := uint64(count) + i + 1
		r.run(func() { require.False(r, r.Allow(tick(newest+ahead), 2, limit)) })
		r.run(func() { require.True(r, r.Allow(tick(newest+ahead), 1, limit)) })
		r.run(func() { require.False(r, r.Allow(tick(newest+ahead), 1, limit)) })
	}
	require.Equal(r, count+2, int(r.sum(ahead)))
}

// TestSumAgainstSpoil takes both orders of a sum's store and of its spoiling, which have both
// loaded the word. The sum lacks the change. If it is stored first, the spoil fails and is made
// again. If the spoil is first, the store fails.
func TestSumAgainstSpoil(t *testing.T) {
	for _, second := range []bool{false, true} { // which of the two sums
		bothOrders(t, "sum", "spoil", func(t *testing.T, sumFirst bool) {
			eachChange(t, func(r ring, c lateChange) {
				summer := r.summer().to(tallyring.RingStore)
				c.to(tallyring.RingSpoil)
				if second {
					c.to(tallyring.RingSpoil)
					summer.to(tallyring.RingStore) // the first word was spoiled before
				}
				if sumFirst {
					summer.end()
					c.end()
					require.Equal(r, 3, c.passed[tallyring.RingSpoil])
				} else {
					c.end()
					summer.end()
					require.Equal(r, 2, c.passed[tallyring.RingSpoil])
				}
				r.holds(0, r.after(c, 0)+1)
			})
		})
	}
}

// TestSlotAgainstSum takes both orders of a late change of a slot and of the sum's look at it, with
// the sum stored before the change spoils it. Either way the change is in the next decision.
func TestSlotAgainstSum(t *testing.T) {
	bothOrders(t, "slot", "sum", func(t *testing.T, slotFirst bool) {
		eachChange(t, func(r ring, c lateChange) {
			summer := r.summer().to(tallyring.RingSum)
			c.to(c.point)
			if slotFirst {
				c.to(tallyring.RingChanged)
			}
			summer.end()
			c.end()
			r.holds(0, r.after(c, 0)+1)
		})
	})
}

// TestChangeThatIsNotSpoiledYet stops a late change between its slot and the sums. Who decides
// meanwhile may miss it; nobody does once it has returned.
func TestChangeThatIsNotSpoiledYet(t *testing.T) {
	eachChange(t, func(r ring, c lateChange) {
		r.run(func() { require.True(r, r.Allow(tick(newest), 1, wide)) })
		c.to(tallyring.RingChanged)
		count := r.held(0) + 1
		r.run(func() { require.False(r, r.Allow(tick(newest), 1, count)) })
		r.run(func() { require.True(r, r.Allow(tick(newest), 1, count+1)) })
		c.end()
		r.holds(0, r.after(c, 0)+2)
	})
}

// TestDecisionThatRunsMissesAChange stops a decision when it has read the sums, and lets a change
// begin and end. The decision may miss it, and the one after it does not. One that has read the
// head alone sees the change.
func TestDecisionThatRunsMissesAChange(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.RingLooked, tallyring.RingCount} {
		eachChange(t, func(r ring, c lateChange) {
			if c.more < 0 {
				return // a decision that misses a refund is denied, and has no swap
			}
			r.run(func() { require.True(r, r.Allow(tick(newest), 1, wide)) })
			count := r.held(0) + 1
			allowed := false
			decision := r.actor("the decision", func() {
				allowed = r.Allow(tick(newest), 1, count+1)
			}).to(p)
			c.end()
			decision.end()
			require.Equal(r, p == tallyring.RingCount, allowed)
			if allowed {
				count++
			}
			r.holds(0, int(count)+c.more)
		})
	}
}

// TestChangeThatSpoilsTooLate stops a late change before it spoils anything, with the head loaded
// or not, and lets the ring turn and the slots be summed in the new bucket. If it has loaded the
// old head, the change was in its slot before those were summed, and the sums stand. If it has
// not, it spoils them.
func TestChangeThatSpoilsTooLate(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.RingChanged, tallyring.RingSpoil} {
		eachChange(t, func(r ring, c lateChange) {
			c.to(p)
			r.run(func() { require.True(r, r.Allow(tick(newest+1), 1, wide)) })
			r.holds(1, r.after(c, 1)+1)
			if p == tallyring.RingSpoil {
				c.wakes(r.look(1))
			}
			c.end()
			r.holds(1, r.after(c, 1)+3)
		})
	}
}

// TestStalledSummer stops a summer before it reads the slots and before each store. Meanwhile
// others decide exactly, in its bucket or after as many turns as they like, with late changes or
// without. When it wakes, its sums are those of a bucket that nobody asks for any more, or are
// spoiled, or stored by another, or right.
func TestStalledSummer(t *testing.T) {
	for _, stores := range []int{0, 1, 2} {
		for turns := range 5 {
			for _, changed := range []bool{false, true} {
				for _, sums := range []bool{false, true} { // whether others sum before it wakes
					eachChange(t, func(r ring, c lateChange) {
						r.stalledSummer(c, stores, turns, changed, sums)
					})
				}
			}
		}
	}
}

func (r ring) stalledSummer(c lateChange, stores, turns int, changed, sums bool) {
	summer := r.summer().to(tallyring.RingSum)
	for range stores {
		summer.to(tallyring.RingStore)
	}
	want := int(r.held(turns))
	if turns < r.slots {
		want++ // the summer's own event
	}
	if changed {
		c.end()
		want = want - int(r.held(turns)) + r.after(c, turns)
	}
	for ahead := 1; ahead <= turns; ahead++ {
		r.run(func() { require.True(r, r.Add(tick(newest+ahead), 1)) }) // which sums nothing
		if turns-ahead < r.slots {
			want++
		}
	}
	if sums {
		r.holds(turns, want)
		want += 2
	}
	summer.end()
	r.holds(turns, want)
}
