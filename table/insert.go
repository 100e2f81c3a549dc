package table

import "github.com/tallyring/tallyring"

// insert makes sure that key has a settled cell, and returns false if it found none that it may
// reuse. The protocol, and why no key ever has two cells that count, stands in the package comment.
// Every round but the last follows a change that someone made, or waits for a busy cell.
func (t *Table) insert(key, home uint64, now tallyring.Tick) bool {
	index := t.index(now)
	for {
		s := t.scan(key, home, index)
		switch {
		case s.settled:
			return true
		case s.busy:
			pause()
		case s.pending:
			t.resolve(key, home, s.cell, s.state)
		case !s.free:
			t.events.refuse()
			return false
		default:
			t.extend(home, s.freeDistance)
			claim := t.states.claim(s.freeState, index)
			claimed := t.pair(s.freeCell).CompareAndSwap(s.freeKey, s.freeState, key, claim)
			if claimed && s.freeKey > deadKey {
				t.events.takeOver()
			}
		}
	}
}

// index returns the bucket of now as states keep it.
func (t *Table) index(now tallyring.Tick) uint64 {
	if t.groupCells == 1 {
		return t.tagged.Index(now)
	}
	return t.packed.Index(now)
}

// resolve settles the pending cell of key that was seen to hold state, unless another cell of the
// key stands against it. It reads the whole probe range after that sighting. Each of its swaps is
// on exactly what was read; one that fails, and one that gives way, leave the rest to the caller's
// next scan.
func (t *Table) resolve(key, home, cell, state uint64) {
	group, reach := home, t.reached(home)
	before := true // the rival stands before cell in probe order
	for distance := uint64(0); distance <= reach; distance++ {
		first := group * t.groupCells
		for rival := first; rival < first+t.groupCells; rival++ {
			if rival == cell {
				before = false
				continue
			}
			rivalState, held := t.read(rival)
			switch {
			case rivalState == tallyring.PairBusy:
				pause()
				return
			case held != key:
			case !pending(rivalState):
				t.kill(key, cell, state)
				return
			case before || !t.kill(key, rival, rivalState):
				return
			}
		}
		if group++; group == t.groups {
			group = 0
		}
	}
	t.pair(cell).CompareAndSwap(key, state, key, t.states.settled(state))
}

// kill makes a pending cell of key dead. Its state stays, so that no claim repeats it.
func (t *Table) kill(key, cell, state uint64) bool {
	return t.pair(cell).CompareAndSwap(key, state, deadKey, state)
}
