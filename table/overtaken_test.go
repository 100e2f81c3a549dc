package table

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: contention is never an error: a decision that others overtake again and again is made in
// the end. Method: whenever an event is about to be counted, another of the same key is, hundreds
// of times, at each of the points at which cells count.
func TestADecisionThatIsOvertakenManyTimesIsMade(t *testing.T) {
	if !tallyring.Holding {
		t.Skip("a decision can be stopped in builds with the tag tallyring_hold alone")
	}
	const limit = 4000
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table, err := New(Config{Window: w, Keys: 4, MaxLimit: limit})
		require.NoError(t, err)
		require.True(t, table.Allow(7, 5, 1, limit))
		met := uint64(0)
		for _, point := range []tallyring.Point{tallyring.TableHit, tallyring.RingCount} {
			overtaken, inside := uint64(0), false
			tallyring.Watch(func(p tallyring.Point) {
				if p == point && !inside && overtaken < 500 {
					overtaken, inside = overtaken+1, true
					table.Allow(7, 5, 1, limit)
					inside = false
				}
			}, func() int { return 0 })
			before := table.Read(7, 5).High
			allowed := table.Allow(7, 5, 1, limit)
			tallyring.Watch(nil, nil)
			require.True(t, allowed)
			require.Equal(t, before+overtaken+1, table.Read(7, 5).High)
			met += overtaken
		}
		require.Equal(t, uint64(500), met)
	})
}
