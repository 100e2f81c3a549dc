package slidinglog

import "math"

// stepsPerStart is how many places the hand passes for each key that starts to count.
const stepsPerStart = 8

// What Stats takes a run, an entry (as the allocator rounds it) and a word to weigh on a 64-bit
// machine, asserted in the tests.
const (
	runBytes   = 16
	entryBytes = 128
	wordBytes  = 8
)

// capacity returns the number of places for keys live keys: a C that satisfies
// keys + 2*ceil(C/stepsPerStart) <= C, see Keyed, or keys where one start looks at all places.
func capacity(keys int) int {
	if keys <= stepsPerStart {
		return keys
	}
	return keys + 2 + (keys+2)/((stepsPerStart-2)/2) + 1
}

// lookUp returns the entry of key, locked, or nil if there is none.
func (k *Keyed) lookUp(key uint64) *entry {
	e, ok := k.logs.Load(key)
	if !ok {
		return nil
	}
	e.mu.Lock()
	if e.dead {
		// Its key had expired, so it is as good as one that was never seen.
		e.mu.Unlock()
		return nil
	}
	return e
}

// place returns the entry of key, locked, for a caller that will count in it. It makes one if there
// is none, and returns nil if there is no place for it.
func (k *Keyed) place(key uint64, now int64) *entry {
	if now < k.full.Load() {
		// All places are taken by keys that are live at now: a flood of new keys ends here.
		k.refused.Add(1)
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if int(k.held.Load()) >= k.keys {
		k.turn(now)
	}
	// Only holders of mu change the map, so what is found is not dead, and what is not found stays
	// away until this caller stores it.
	if e, ok := k.logs.Load(key); ok {
		e.mu.Lock()
		return e
	}
	place, ok := k.freePlace()
	if !ok {
		k.refused.Add(1)
		return nil
	}
	e := &entry{key: key, book: book{queue: newQueue(k.horizon.Load())}}
	e.mu.Lock() // before mu is given up, so that the hand does not find it with nothing counted
	k.places[place] = e
	k.alive = 0
	k.held.Add(1)
	k.logs.Store(key, e)
	return e
}

// freePlace takes a free place, if there is one. Where there is none, and the hand has seen every
// key alive, it notes until when that will be so. The caller holds mu.
func (k *Keyed) freePlace() (place int, ok bool) {
	if last := len(k.free) - 1; last >= 0 {
		place = k.free[last]
		k.free = k.free[:last]
		return place, true
	}
	if place = len(k.places); place < capacity(k.keys) {
		k.places = append(k.places, nil)
		return place, true
	}
	if k.alive >= len(k.places) {
		k.full.Store(k.soonest)
	}
	return 0, false
}

// restart does for an old key that counts again after a whole idle window what place does for a new
// one: without it, keys that fall idle behind the hand and wake before it could hold all places.
func (k *Keyed) restart(now int64) {
	if int(k.held.Load()) < k.keys {
		return
	}
	k.mu.Lock()
	k.turn(now)
	k.mu.Unlock()
}

// turn moves the hand by stepsPerStart places, or once around if there are fewer, and frees those
// whose key has expired by now. The caller holds mu.
func (k *Keyed) turn(now int64) {
	for range min(stepsPerStart, len(k.places)) {
		if k.hand >= len(k.places) {
			k.hand = 0
		}
		if e := k.places[k.hand]; e != nil && k.retire(e, now) {
			k.logs.Delete(e.key)
			k.places[k.hand] = nil
			k.free = append(k.free, k.hand)
			k.held.Add(-1)
			k.full.Store(0)
			k.alive = 0
			k.reused++
		}
		k.hand++
	}
}

// retire marks the entry dead if its key has expired by now, and tells whether it did. Both happen
// under the entry's lock, so no one counts in between, and no one counts in a dead entry. The
// caller holds mu.
func (k *Keyed) retire(e *entry, now int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !k.expired(e, now) {
		if k.alive == 0 {
			k.soonest = math.MaxInt64
		}
		k.alive++
		k.soonest = min(k.soonest, k.leaves(e.newest))
		return false
	}
	e.clear()
	e.dead = true
	// A key that starts later finds the entry dead or gone, and reads the horizon after that.
	k.horizon.Store(max(k.horizon.Load(), e.newest+k.length))
	return true
}

// expired tells whether nothing counts in the entry at now, nor would at any later tick. It is a
// signed comparison: a key whose newest tick is later than now is live. The caller holds the
// entry's lock.
func (k *Keyed) expired(e *entry, now int64) bool { return e.newest <= now-k.length }
