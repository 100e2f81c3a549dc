package table

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: a key that lost its cell and comes back by a tick of the bucket in which it has spent its
// budget finds none, also where the horizon is the bucket whose stored index is 0 and a state that
// counts nothing in it would be the word 0, which is never late. Method: an index of 50 bits just
// before its wrap, and seven buckets from it.
func TestALateKeyIsLateWhereIndexesBeginAgain(t *testing.T) {
	const width, limit = 1000, 10
	for wrap, late := range map[tallyring.Tick]tallyring.Tick{1<<50 + 7: 0, 1 << 50: 1} {
		table, err := New(Config{Window: tallyring.Window{Slots: 1, Width: width}, Keys: 5})
		require.NoError(t, err)
		require.EqualValues(t, 50, 63-table.states.shift)
		var home []uint64 // keys that begin to look in one group
		for key := uint64(2); len(home) < 2; key++ {
			if _, group := table.home(key); group == 0 {
				home = append(home, key)
			}
		}
		before := wrap*width - width/2
		counted := map[tallyring.Tick]int{}
		ask := func() {
			for range 2 * limit {
				if d := table.Take(home[0], before, 1, limit); d.Allowed {
					counted[d.At/width-wrap]++
				}
			}
		}
		ask()
		require.True(t, table.Allow(home[1], before+width/2, 1, limit))
		require.EqualValues(t, 1, table.Stats(before+width/2).TakenOver)
		ask()
		require.Equal(t, map[tallyring.Tick]int{-1: limit, late: limit}, counted)
	}
}
