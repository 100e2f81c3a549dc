package table

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: a key that finds no free cell near home is found again where it was put, as far as a probe
// may go. Method: keys of one home, inserted one by one until none fits, and looked for each time.
func TestAKeyInsertedFarFromHomeIsFound(t *testing.T) {
	eachStage(t, func(s stage) {
		table := newTable(s, s.table.window, 400)
		_, home := table.home(keyA)
		farthest := uint64(0)
		for key := uint64(keyA); ; key = table.neighbour(key) {
			if !table.insert(key, home, s.now) {
				break
			}
			cell, _, ok := table.find(key, home)
			require.True(t, ok, "a key at distance %d or more is not found", farthest)
			farthest = max(farthest, table.distance(key, cell))
		}
		require.Equal(t, table.bound-1, farthest)
	})
}

// Goal: a scan finds the settled cell of a key as far from home as its home has ever reached,
// though cells before it are free. Method: a key far from home, and nobody else.
func TestAScanLooksBeyondWhatIsFree(t *testing.T) {
	eachStage(t, func(s stage) {
		st := stage{s.T, newTable(s, s.table.window, 400), s.now}
		_, home := st.table.home(keyA)
		far := (home + st.table.bound - 1) % st.table.groups * st.table.groupCells
		for cell := range st.table.cells() {
			st.table.pair(cell).Key.Store(deadKey)
			st.table.pair(cell).State.Store(pendingMark)
		}
		st.resolve(keyA, far, st.claim(keyA, far, s.now))
		saw := st.scan(keyA, s.now)
		require.True(s, saw.free && saw.settled, "%+v", saw)
		require.Equal(s, far, saw.cell)
	})
}

// Goal: the horizon does not go back where a cell is taken over that has expired long before others
// that were. Method: A has counted until a later bucket than B; A's cell is taken over, then B's;
// and A comes back by a tick 1 ns before its end.
func TestTheHorizonStaysWhereAnOlderCellIsTakenOver(t *testing.T) {
	eachStage(t, func(s stage) {
		w, limit := s.table.window, uint64(9)
		later := s.now + tallyring.Tick(w.Width)*tallyring.Tick(w.Slots)/2
		later -= later % tallyring.Tick(w.Width)
		if later == s.now {
			later += tallyring.Tick(w.Width)
		}
		end := later + ring(w)
		index, olderEnd := s.table.index(end), s.table.index(s.now+ring(w))
		require.NotEqual(s, index, olderEnd)
		s.table.raise(index)
		s.table.raise(olderEnd)
		require.Equal(s, index, s.table.start(olderEnd))
		d := s.table.Take(keyA, end-1, limit, limit)
		require.True(s, d.Allowed)
		require.GreaterOrEqual(s, d.At, end, "the tick at which it was counted")
		s.table.raise(index + 1)
		require.Equal(s, index+1, s.table.start(olderEnd))
	})
}
