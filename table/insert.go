package table

import "github.com/tallyring/tallyring"

// insert makes sure that key has a settled cell, and returns false if it found none that it may
// reuse. The protocol, and why no key ever has two cells that count, stands in the package comment.
// Every round but the last follows a change that someone made, or waits for a busy cell.
func (t *Table) insert(key, home uint64, now tallyring.Tick) bool {
	index := t.index(now)
	var own, claim uint64 // this call's latest claim, if claim is not 0
	for {
		s := t.scan(key, home, index)
		switch {
		case s.settled:
			if claim != 0 {
				t.kill(key, own, claim) // in vain if it is the one that was settled
			}
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
			if s.freeKey > deadKey {
				t.raise(t.states.leaves(s.freeState))
			}
			state := t.states.claim(s.freeState, t.start(index))
			if tallyring.Holding {
				tallyring.AtPoint(tallyring.TableClaim)
			}
			if !t.pair(s.freeCell).CompareAndSwap(s.freeKey, s.freeState, key, state) {
				continue
			}
			if s.freeKey > deadKey {
				t.events.takeOver()
			}
			own, claim = s.freeCell, state
		}
	}
}

// raise makes the horizon at least the stored index. It comes before the takeover of a cell whose
// key counts nothing from that bucket on: when this key comes back, by a tick before it, it must
// not find a budget beside the one that it has spent.
func (t *Table) raise(index uint64) {
	for {
		horizon := t.horizon.Load()
		if horizon != 0 && t.states.behind(horizon<<t.states.shift, index) <= 0 {
			return
		}
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableRaise)
		}
		if t.horizon.CompareAndSwap(horizon, pendingMark|index) {
			return
		}
	}
}

// start returns the bucket in which a key begins that is inserted at the stored index: no earlier
// than the horizon, so that a late tick is late for it. A word of index 0 that counts nothing would
// take any tick for its first; the next bucket will do as well, once in twenty years or more.
func (t *Table) start(index uint64) uint64 {
	horizon := t.horizon.Load()
	if horizon == 0 || t.states.behind(horizon<<t.states.shift, index) >= 0 {
		return index
	}
	return max(horizon&^pendingMark, 1)
}

// index returns the bucket of now as states keep it.
func (t *Table) index(now tallyring.Tick) uint64 {
	if t.transition == nil {
		return t.tagged.Index(now)
	}
	return t.transition.Index(now)
}

// resolve settles the pending cell of key that was seen to hold state, unless another cell of the
// key stands against it. It reads the whole probe range after that sighting. Each of its swaps is
// on exactly what was read; one that fails, and one that gives way, leave the rest to the caller's
// next scan.
func (t *Table) resolve(key, home, cell, state uint64) {
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableResolve)
	}
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
	begin := t.start(t.states.settled(state) >> t.states.shift)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableCommit)
	}
	t.pair(cell).CompareAndSwap(key, state, key, begin<<t.states.shift)
}

// kill makes a pending cell of key dead. Its state stays, so that no claim repeats it.
func (t *Table) kill(key, cell, state uint64) bool {
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableKill)
	}
	return t.pair(cell).CompareAndSwap(key, state, deadKey, state)
}
