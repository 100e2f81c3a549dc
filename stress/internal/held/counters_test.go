package held

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/pertcore"
)

// counter is a counter of four rings or more, each of which has counted its number and 1 in bucket
// begun.
type counter struct {
	*stage
	*pertcore.Counter
	slots int
	count uint64
}

func newCounter(t testing.TB, slots int) counter {
	fourProcessors(t)
	made, err := pertcore.NewCounter(tallyring.Window{Slots: slots, Width: time.Second})
	require.NoError(t, err)
	c := counter{newStage(t), made, slots, 0}
	for seat := range c.Shards() {
		c.runAt(seat, func() { require.True(t, c.Add(second(begun), uint64(seat)+1)) })
		c.count += uint64(seat) + 1
	}
	return c
}

// TestStalledAdder stops an add to a newer bucket before it makes that the newest, and before it
// counts there. A reader finds everything but that add, as of one bucket, and once the add has
// returned a reader finds it.
func TestStalledAdder(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.CounterTurn, tallyring.CounterAdd} {
		for _, slots := range []int{1, 2, 3} {
			c := newCounter(t, slots)
			adder := c.seated(1, "the adder", func() {
				require.True(t, c.Add(second(begun+1), 100))
			}).to(p)
			for ahead := range slots + 1 {
				want := c.count * bit(ahead < slots)
				if p == tallyring.CounterAdd && slots == 1 {
					want = 0 // the newest bucket has moved on
				}
				c.run(func() { require.Equal(t, want, c.Read(second(begun+ahead)).High) })
			}
			c.runAt(2, func() { require.True(t, c.Add(second(begun+1), 10)) })
			kept := c.count * bit(slots > 1)
			require.Equal(t, kept+10, c.Read(second(begun+1)).High)
			adder.end()
			require.Equal(t, kept+110, c.Read(second(begun+1)).High)
		}
	}
}

// TestAdderThatSleptForAWindow wakes one only when its bucket has left the window. It counts
// nowhere that anybody reads.
func TestAdderThatSleptForAWindow(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.CounterTurn, tallyring.CounterAdd} {
		for _, seat := range []int{1, 2} { // on the ring of those who went on, or on another
			for _, slots := range []int{1, 2, 3} {
				c := newCounter(t, slots)
				adder := c.seated(1, "the adder", func() { c.Add(second(begun+1), 100) }).to(p)
				for ahead := 1; ahead <= 1+slots; ahead++ {
					c.runAt(seat, func() { require.True(t, c.Add(second(begun+ahead), 10)) })
				}
				now := second(begun + 1 + slots)
				require.Equal(t, uint64(10*slots), c.Read(now).High)
				adder.end()
				require.Equal(t, uint64(10*slots), c.Read(now).High)
			}
		}
	}
}

// TestReaderAgainstTurn stops a reader between any two rings, and before it looks whether a bucket
// has turned, and lets one add turn it and return. If the reader has looked before, it misses that
// add, which was still to come when it ended. If not, it reads again: as of the new bucket, with
// the add. It never adds up rings as of different buckets.
func TestReaderAgainstTurn(t *testing.T) {
	for _, slots := range []int{1, 2, 3} {
		shards := newCounter(t, slots).Shards()
		for read := range shards + 2 { // how many rings, and then whether it has ended
			for seat := range shards {
				c := newCounter(t, slots)
				var sum uint64
				reader := c.actor("the reader", func() { sum = c.Read(second(begun)).High })
				for range min(read+1, shards) {
					reader.to(tallyring.CounterMerge)
				}
				if read == shards {
					reader.to(tallyring.CounterConfirm)
				} else if read > shards {
					reader.end()
				}
				c.runAt(seat, func() { require.True(t, c.Add(second(begun+1), 100)) })
				reader.end()
				want := c.count
				if read <= shards {
					want = c.count*bit(slots > 1) + 100
				}
				require.Equal(t, want, sum, "%d slots, %d rings read, ring %d", slots, read, seat)
			}
		}
	}
}

// TestTwoTurnsOfACounter lets two adds make different buckets the newest, from the same, in either
// order. The later one stands.
func TestTwoTurnsOfACounter(t *testing.T) {
	bothOrders(t, "near", "far", func(t *testing.T, nearFirst bool) {
		c := newCounter(t, 2)
		near := c.seated(1, "near", func() { require.True(t, c.Add(second(begun+1), 100)) })
		far := c.seated(2, "far", func() { require.True(t, c.Add(second(begun+2), 10)) })
		near.to(tallyring.CounterTurn)
		far.to(tallyring.CounterTurn)
		if nearFirst {
			near.end()
			far.end()
		} else {
			far.end()
			near.end()
		}
		for ahead := range 3 { // late ticks are read as of the newest bucket
			require.Equal(t, uint64(110), c.Read(second(begun+ahead)).High)
		}
		c.run(func() { require.False(t, c.Add(second(begun), 1), "it has left the window") })
	})
}
