package table

// states reads and makes the state words of cells as far as insertion needs them. A settled state
// is a word of package atomicring with a topmost bit of 0; below it lies the bucket index, at
// shift.
//
//	 63  shift
//	{0 | bucket index | counts}    settled
//	{1 | bucket index | ticket}    pending, or dead if the fingerprint says so
type states struct {
	shift uint
	slots int64
}

const pendingMark = 1 << 63

// pending tells whether state is marked.
func pending(state uint64) bool { return state&pendingMark != 0 }

// behind returns how many buckets state lies behind the stored index.
func (s states) behind(state, index uint64) int64 {
	return int64((index-state>>s.shift)<<(s.shift+1)) >> (s.shift + 1)
}

// expired tells whether nothing of state is left in the window at the stored index.
func (s states) expired(state, index uint64) bool { return s.behind(state, index) >= s.slots }

// leaves returns the stored index at which nothing of state is left in the window.
func (s states) leaves(state uint64) uint64 {
	return (state>>s.shift + uint64(s.slots)) << (s.shift + 1) >> (s.shift + 1)
}

// claim returns the pending state with which a cell that holds state is claimed at the stored
// index. It differs from every earlier one of the cell: its index is newer than state's, or its
// ticket is. Tickets come round after 2^(shift-1) claims of one cell under one index, 2^32 for two
// buckets of a second and 2^7 in the narrowest layout, whose index moves on every 36 ns. No ticket
// grows so far that the word could be tallyring.PairBusy.
func (s states) claim(state, index uint64) uint64 {
	if state == 0 || s.behind(state, index) > 0 {
		return pendingMark | index<<s.shift
	}
	ticket := (state + 1) & (1<<(s.shift-1) - 1)
	return pendingMark | state>>s.shift<<s.shift | ticket
}

// settled returns the state with which a pending cell begins to count.
func (s states) settled(state uint64) uint64 {
	return state &^ pendingMark >> s.shift << s.shift
}
