package exphist

// push puts in one bucket, newer than all others of its level. Where the level is full the two
// oldest become one, which ends where the newer of them did, and is pushed to the next. The caller
// has made sure that it all fits, so there is a next. Only the low bits of end are used.
func (b *buckets) push(level int, end uint64) {
	for {
		r := b.ring(level)
		if r.count < b.slots {
			b.ends.set(b.slot(level, r, r.count), end)
			b.setRing(level, ring{r.oldest, r.count + 1})
			b.top = max(b.top, level)
			return
		}
		merged := b.ends.at(b.slot(level, r, 1))
		r = ring{b.slot(0, r, 2), r.count - 2}
		b.ends.set(b.slot(level, r, r.count), end)
		b.setRing(level, ring{r.oldest, r.count + 1})
		level, end = level+1, merged
	}
}

// pour puts in count buckets of size 1 that end at place, and leaves what pushing them one by one
// would. While a level gets slots or more of them, none that ends earlier stays: those are merged
// in pairs, oldest first, and carried to the next level, ahead of what of the new ones is merged.
// That ends, since each level passes on half of what it gets.
//
// What is carried lies in the slots of the level below, from its oldest on, until the next level
// has taken it; only then is the level below filled with what it keeps of the new ones. It has
// room: before merging a level has up to slots of its own and slots carried.
func (b *buckets) pour(place, count uint64) {
	level, carried, kept := 0, 0, 0
	var below ring // of level-1, as it was
	for ; count >= uint64(b.slots); level++ {
		r := b.ring(level)
		earlier := r.count + carried
		for i := range earlier / 2 {
			b.ends.set(b.slot(level, r, i), b.earlier(level, r, below, 2*i+1))
		}
		b.fill(level-1, kept, place)
		all := uint64(earlier) + count
		kept = b.slots - int((all-uint64(b.slots))&1)
		carried = earlier / 2
		count = (all-uint64(kept))/2 - uint64(carried)
		below = r
	}
	for i := range carried {
		b.push(level, b.ends.at(b.slot(level-1, below, i)))
	}
	b.fill(level-1, kept, place)
	for range count {
		b.push(level, place)
	}
}

// earlier returns the end of bucket i of those of a level and, behind them, those carried to it.
func (b *buckets) earlier(level int, r, below ring, i int) uint64 {
	if i < r.count {
		return b.ends.at(b.slot(level, r, i))
	}
	return b.ends.at(b.slot(level-1, below, i-r.count))
}

// fill makes a level hold count buckets that end at place, and no others. Below level 0 is nothing
// to fill.
func (b *buckets) fill(level, count int, place uint64) {
	if level < 0 {
		return
	}
	b.ends.fill(level*b.slots, count, place)
	b.setRing(level, ring{0, count})
	b.top = max(b.top, level)
}
