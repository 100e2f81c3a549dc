package table

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: AllowMany decides as that many calls of Allow in order, also where one key comes twice, and
// touches nothing beyond its answers. Method: two tables, batches of every length around the one
// that is fetched at a time, few keys and many.
func TestAllowManyIsAllowInOrder(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		random := rand.New(rand.NewPCG(25, 26))
		one, many := newTable(t, w, 200), newTable(t, w, 200)
		allowed, denied := 0, 0
		for n := range 3*batch + 3 {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = random.Uint64N(1 + 200*random.Uint64N(2))
			}
			now := ring(w) * tallyring.Tick(n) / 8
			answers := make([]bool, n+2)
			answers[n], answers[n+1] = true, false
			many.Prefetch(keys...)
			many.AllowMany(keys, now, 1, 3, answers)
			for i, key := range keys {
				want := one.Allow(key, now, 1, 3)
				require.Equal(t, want, answers[i])
				if want {
					allowed++
				} else {
					denied++
				}
			}
			require.Equal(t, []bool{true, false}, answers[n:])
		}
		require.Equal(t, one.memory(), many.memory())
		assert.Positive(t, allowed)
		assert.Positive(t, denied)
	})
}

// Goal: a slice of answers that is too short is told at once, before anything is counted.
func TestAllowManyWantsRoomForItsAnswers(t *testing.T) {
	table := newTable(t, forms()[1].window, 10)
	before := table.memory()
	require.PanicsWithValue(t, "table: allowed has 2 elements, want at least the 3 of keys",
		func() { table.AllowMany([]uint64{1, 2, 3}, 5, 1, 3, make([]bool, 2)) })
	require.Equal(t, before, table.memory())
}

// Goal: fetching and deciding in batches allocate nothing.
func TestAllowManyAllocatesNothing(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table := newTable(t, w, 100)
		keys, answers := make([]uint64, 70), make([]bool, 70)
		for i := range keys {
			keys[i] = uint64(i)
		}
		require.Zero(t, testing.AllocsPerRun(50, func() {
			table.Prefetch(keys...)
			table.AllowMany(keys, 5, 1, 10, answers)
		}))
	})
}
