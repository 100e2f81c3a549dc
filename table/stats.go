package table

import (
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// Stats is what a table holds at one tick, and what has happened to it since it was made. The cells
// are counted one by one while others change them, so the counts of a busy table are each right
// within what happened during the call.
type Stats struct {
	Cells   uint64 // all cells
	Live    uint64 // cells whose key still counts something, or has just been inserted
	Expired uint64 // cells whose key counts nothing any more; any key may take them over
	Pending uint64 // cells that an insertion holds, or that it gave up and any key may take

	TakenOver uint64 // cells that passed from one key to another
	Refused   uint64 // events whose key found no cell

	// Probes is where the live keys lie: how many in their home group, in the next, and so on; the
	// last entry counts all that lie further. Farthest is the greatest distance of any.
	Probes   [8]uint64
	Farthest uint64

	Bytes int // memory of the table
}

// Stats visits every cell: it is for metrics, once in a while.
func (t *Table) Stats(now tallyring.Tick) Stats {
	index := t.index(now)
	s := Stats{Cells: t.groups * t.groupCells, Bytes: t.Bytes()}
	s.TakenOver, s.Refused = t.events.sum()
	for cell := range s.Cells {
		state, key := t.read(cell)
		switch {
		case key == neverUsed && state == 0:
		case pending(state):
			s.Pending++
		case t.states.expired(state, index):
			s.Expired++
		default:
			s.Live++
			distance := t.distance(key, cell)
			s.Probes[min(distance, uint64(len(s.Probes)-1))]++
			s.Farthest = max(s.Farthest, distance)
		}
	}
	return s
}

// distance returns how many groups the cell of a fingerprint lies from its home.
func (t *Table) distance(fingerprint, cell uint64) uint64 {
	_, home := t.home(fingerprint)
	group := cell / t.groupCells
	if group < home {
		group += t.groups
	}
	return group - home
}

// tally counts rare events without a line that all processors write: each P has its own entry, or
// shares it with few.
type tally [16]struct {
	takenOver, refused atomic.Uint64
	_                  [tallyring.PadBytes - 16]byte // keeps the next P's entry away
}

func (t *tally) takeOver() {
	t[tallyring.Pin()%len(t)].takenOver.Add(1)
	tallyring.Unpin()
}

func (t *tally) refuse() {
	t[tallyring.Pin()%len(t)].refused.Add(1)
	tallyring.Unpin()
}

func (t *tally) sum() (takenOver, refused uint64) {
	for i := range t {
		takenOver += t[i].takenOver.Load()
		refused += t[i].refused.Load()
	}
	return takenOver, refused
}
