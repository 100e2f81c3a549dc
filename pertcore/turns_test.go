package pertcore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: who has looked at the center, and turns it only after another event was counted in it,
// changes nothing: in particular he copies no count that the head no longer has. Then a turn that
// has seen the last count carries all of it. Method: exact mode, one goroutine, an old head.
func TestATurnOfAnOldHeadChangesNothing(t *testing.T) {
	for _, slots := range []int{2, 3, 7} {
		w := tallyring.Window{Slots: slots, Width: time.Second}
		l, err := newLimiter(w, 3, 2)
		require.NoError(t, err)
		require.True(t, l.Allow(1, 1))
		old := l.look()
		require.True(t, old.exact())
		require.True(t, l.Allow(1, 1))
		before := state(l)
		l.turn(old.head, 0, 1)
		require.Equal(t, before, state(l))

		require.True(t, l.Allow(tallyring.Tick(w.Width), 1))
		require.Equal(t, uint64(3), l.Read(tallyring.Tick(w.Width)).High)
	}
}
