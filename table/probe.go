package table

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/tallyring/tallyring"
)

// sighting is what one scan of a key's probe range saw. Cells are numbered over the whole table.
type sighting struct {
	settled, pending, free bool // whether there is such a cell
	busy                   bool // a cell could not be read

	cell  uint64 // the settled cell; else the first pending one
	state uint64

	freeCell, freeKey, freeState uint64 // the first reusable cell
	freeDistance                 uint64 // its groups from home
}

// match returns which pair of quad holds key, or another one; of the result two bits count. It
// compares all before anything depends on any: which one it is cannot be predicted.
func match(quad *tallyring.Quad, key uint64) uint {
	return bit(quad[1].Key.Load() == key) +
		bit(quad[2].Key.Load() == key)*2 +
		bit(quad[3].Key.Load() == key)*3
}

// bit is compiled without a branch.
func bit(b bool) uint {
	if b {
		return 1
	}
	return 0
}

// after returns the group at a distance from home, or nil where none of its keys was ever placed as
// far. The first beyond home may be visited at any rate, so its reach is not looked up for that.
func (t *Table) after(home, distance uint64) *tallyring.Quad {
	if distance > 1 && distance > t.reached(home) || distance == t.groups {
		return nil
	}
	group := home + distance
	if group >= t.groups {
		group -= t.groups
	}
	return &t.quads[group]
}

// find returns the settled cell of a key, with the state that it had when its fingerprint was read
// after it.
func (t *Table) find(key, home uint64) (cell, state uint64, ok bool) {
	reach := t.reached(home)
	group := home
	for distance := uint64(0); distance <= reach; distance++ {
		first := group * t.groupCells
		for cell = first; cell < first+t.groupCells; cell++ {
			if t.pair(cell).Key.Load() != key {
				continue
			}
			state, held := t.read(cell)
			if held == key && !pending(state) {
				return cell, state, true
			}
		}
		if group++; group == t.groups {
			group = 0
		}
	}
	return 0, 0, false
}

// scan reads the probe range of a key, each state before its fingerprint. It ends early at a cell
// that was never used, since no key was ever placed beyond one that it could have had, and
// otherwise when it is past the reach of home and knows what to do.
func (t *Table) scan(key, home, index uint64) (s sighting) {
	group, reach := home, t.reached(home)
	for distance := uint64(0); distance < t.bound; distance++ {
		if distance > reach && (s.free || s.pending || s.busy) {
			return s
		}
		first := group * t.groupCells
		for cell := first; cell < first+t.groupCells; cell++ {
			state, held := t.read(cell)
			switch {
			case state == tallyring.PairBusy:
				s.busy = true
			case held == key && !pending(state):
				s.settled, s.cell, s.state = true, cell, state
				return s
			case held == key && !s.pending:
				s.pending, s.cell, s.state = true, cell, state
			case !s.free && held != key && t.reusable(held, state, index):
				s.free, s.freeCell, s.freeDistance = true, cell, distance
				s.freeKey, s.freeState = held, state
			}
			if held == neverUsed && state == 0 {
				return s
			}
		}
		if group++; group == t.groups {
			group = 0
		}
	}
	return s
}

// read returns a cell's state and the fingerprint that was read after it.
func (t *Table) read(cell uint64) (state, key uint64) {
	pair := t.pair(cell)
	state = pair.State.Load()
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableLooked)
	}
	return state, pair.Key.Load()
}

// reusable tells whether another key's cell may be claimed at the stored index: it was never used,
// or its claim was killed, or its time has passed.
func (t *Table) reusable(held, state, index uint64) bool {
	return held <= deadKey || t.states.expired(state, index)
}

func (t *Table) pair(cell uint64) *tallyring.Pair { return &t.pairs[cell*t.cellPairs] }

// ring returns the words of a tagged cell's ring.
func (t *Table) ring(cell uint64) []atomic.Uint64 {
	first := cell*t.cellPairs*2 + 1
	return t.words[first : first+uint64(t.tagged.Words())]
}

// reached returns how many groups from home any of its keys was ever placed, or somewhat more: bit
// j of home's byte says that one was placed 2^(j+1) to 2^(j+2)-1 groups away. One group is always
// visited beside home, since it shares home's pair of lines half of the time.
func (t *Table) reached(home uint64) uint64 {
	seen := uint8(t.reach[home/4].Load() >> (home % 4 * 8))
	if seen == 0 {
		return min(1, t.bound-1)
	}
	return min(1<<(bits.Len8(seen)+1)-1, t.bound-1)
}

// extend makes reached(home) at least distance. It comes before the claim: who scans after he has
// seen the claim scans as far as that.
func (t *Table) extend(home, distance uint64) {
	if distance < 2 {
		return
	}
	bit := uint32(1) << (uint64(bits.Len64(distance)-2) + home%4*8)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableExtend)
	}
	if word := &t.reach[home/4]; word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// pause lets the owner of a busy cell go on.
func pause() {
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.PairWait)
	}
	runtime.Gosched()
}
