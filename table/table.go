package table

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// Policy says what happens to an event whose key finds no cell.
type Policy uint8

const (
	// Deny denies the event, with the window's length as a hint when to retry.
	Deny Policy = iota
	// Allow admits the event and does not count it: its Decision.At is [tallyring.Uncounted].
	Allow
	// Overflow decides the event on one ring that all keys without a cell share.
	Overflow
)

// MaxKeys is the most keys that a table may be asked to hold.
const MaxKeys = 1 << 32

// maxBytes bounds a table: more is refused in words, where the allocator would panic.
const maxBytes = min(1<<40, math.MaxInt)

// Config says what a table holds.
type Config struct {
	Window   tallyring.Window
	MaxLimit uint64 // the largest limit it must hold exactly; 0 or Unlimited leave that to the form
	Keys     int    // keys that count something at one time and always fit, 1 to MaxKeys
	WhenFull Policy

	// Cells says what the cells hold instead of counts in Window, whose two slots must then be as
	// long as the spans of Cells. Nil means the window.
	Cells Transition
}

// Transition is an algorithm whose state is one word, so that a cell can hold it, and the
// transitions of that word, which are pure. [atomicring.Packed] is one, and gcra.Rate is another.
//
// The topmost bit of a word is 0: the table marks cells with it that are not settled. Below it lies
// an index of time, from IndexShift on, that no transition moves back; IndexShift is 8 or more. A
// word whose index lies two behind that of a tick, or one where the window has one slot, is as good
// as new at that tick. So is a word of an index and nothing else at any time, and from then on no
// tick counts as earlier than that index.
type Transition interface {
	IndexShift() uint
	Index(now tallyring.Tick) uint64
	MaxLimit() uint64 // a larger finite limit decides as this one

	// Next decides on an event, and returns the word that counts it, or word itself where it is
	// denied or has cost 0. Take adds the whole answer.
	Next(word uint64, now tallyring.Tick, cost, limit uint64) (next uint64, allowed bool)
	Take(word uint64, now tallyring.Tick, cost, limit uint64) (uint64, tallyring.Decision)

	Read(word uint64, now tallyring.Tick) tallyring.Reading
	Refund(word uint64, at tallyring.Tick, count uint64) (next uint64)
}

const (
	packedPerGroup = uint64(len(tallyring.Quad{}))

	// packedLoad and taggedLoad are the shares of cells that the keys asked for take up. Single
	// cells form longer runs than groups of four.
	packedLoad = 0.72
	taggedLoad = 0.60

	// packedBound and taggedBound are the most groups that a probe visits. Of a million keys at
	// these loads, the farthest lay some 30 and 120 groups from home, and each further group is
	// half as likely after 1.5 and 6 groups.
	packedBound = 64
	taggedBound = 256
)

// Table counts the events of many keys in one window, and decides on them. All methods may be
// called from any number of goroutines; none allocates. A Table must not be copied.
type Table struct {
	lines      []tallyring.Line // the memory of all cells
	quads      []tallyring.Quad // the same: a group of packed cells each
	pairs      []tallyring.Pair // the same: a packed cell each, or the start of a tagged one
	words      []atomic.Uint64  // the same
	apart      uint64           // the last fingerprint that the shortest decision leaves to others
	packed     atomicring.Packed
	transition Transition // of cells of one word: packed, or Config.Cells; else nil
	tagged     atomicring.Tagged
	states     states
	window     tallyring.Window

	groups     uint64
	groupCells uint64 // cells in a group
	cellPairs  uint64 // pairs from one cell to the next
	groupLines uint64 // lines from one group to the next
	bound      uint64 // groups that a probe visits at most

	reach    []atomic.Uint32 // four homes to a word
	policy   Policy
	overflow overflow // nil unless the policy is Overflow
	events   tally

	// horizon is marked, and then the first bucket in which no key that lost its cell still
	// counted.
	horizon atomic.Uint64
}

// New returns an empty table, or an error that says which value of c is wrong and what would be
// right.
func New(c Config) (*Table, error) {
	if err := c.Window.Validate(); err != nil {
		return nil, err
	}
	if c.Keys < 1 || uint64(c.Keys) > MaxKeys {
		return nil, fmt.Errorf("table: keys is %d, want 1 to %d", c.Keys, uint64(MaxKeys))
	}
	if c.WhenFull > Overflow {
		return nil, fmt.Errorf("table: policy is %d, want Deny, Allow or Overflow", c.WhenFull)
	}
	t := &Table{window: c.Window, policy: c.WhenFull}
	cellLines, err := t.choose(c)
	if err != nil {
		return nil, err
	}
	load := packedLoad
	t.apart = deadKey
	if c.Cells != nil {
		t.apart = math.MaxUint64
	}
	if t.groupCells == 1 {
		t.apart = math.MaxUint64
		load = taggedLoad
	}
	t.groups = uint64(math.Ceil(float64(c.Keys) / load / float64(t.groupCells)))
	t.bound = min(t.bound, t.groups)
	lines := t.groups * cellLines
	if lines > maxBytes/tallyring.LineBytes {
		return nil, fmt.Errorf("table: %d keys of %d slots take %d GiB, want fewer, at most %d GiB",
			c.Keys, c.Window.Slots, lines*tallyring.LineBytes>>30, uint64(maxBytes)>>30)
	}
	t.lines, t.groupLines = tallyring.NewLines(int(lines)), cellLines
	t.quads, t.pairs, t.words =
		tallyring.Quads(t.lines), tallyring.Pairs(t.lines), tallyring.Words(t.lines)
	t.reach = make([]atomic.Uint32, (t.groups+3)/4)
	if c.WhenFull == Overflow {
		t.overflow, err = newOverflow(c, t.MaxLimit())
	}
	return t, err
}

// choose picks the form of the cells, and returns how many lines a group of them takes. As in
// package atomicring, one slot is always packed, and two where that holds the limit.
func (t *Table) choose(c Config) (lines uint64, err error) {
	if c.Cells != nil {
		t.transition = c.Cells
		return t.chooseWord(c)
	}
	least := uint64(easyLimit)
	if c.MaxLimit != 0 && c.MaxLimit != tallyring.Unlimited {
		least = c.MaxLimit
	}
	if c.Window.Slots <= 2 {
		t.packed, err = atomicring.NewPacked(c.Window, 1)
		if err == nil && (c.Window.Slots == 1 || t.packed.MaxLimit() >= least) {
			t.transition = &t.packed
			return t.chooseWord(c)
		}
		if c.Window.Slots == 1 {
			return 0, err
		}
	}
	t.tagged, err = atomicring.NewTagged(c.Window, 1)
	if err != nil {
		return 0, err
	}
	lines = cellLines(&t.tagged)
	if summed := t.tagged.Summed(); cellLines(&summed) == lines {
		t.tagged = summed
	}
	t.states = states{shift: t.tagged.IndexShift(), slots: int64(c.Window.Slots)}
	t.groupCells, t.bound = 1, taggedBound
	t.cellPairs = lines * tallyring.LineBytes / tallyring.PairBytes
	return lines, t.holds(c)
}

// chooseWord is choose for cells of one word.
func (t *Table) chooseWord(c Config) (lines uint64, err error) {
	t.states = states{shift: t.transition.IndexShift(), slots: int64(c.Window.Slots)}
	t.groupCells, t.cellPairs, t.bound = packedPerGroup, 1, packedBound
	return 1, t.holds(c)
}

// cellLines returns how many lines a key and its ring take.
func cellLines(g *atomicring.Tagged) uint64 {
	return uint64(1+g.Words()+tallyring.LineWords-1) / tallyring.LineWords
}

// holds returns an error if the cells do not hold the limit that is known.
func (t *Table) holds(c Config) error {
	if c.MaxLimit == tallyring.Unlimited || c.MaxLimit <= t.MaxLimit() {
		return nil
	}
	return fmt.Errorf("table: limit %d is above %d, the most that a window of width %v can hold: "+
		"want a lower limit or a larger width", c.MaxLimit, t.MaxLimit(), c.Window.Width)
}

// easyLimit is the limit that a packed cell must hold where none is known: 12 bits of count.
const easyLimit = 1<<12 - 2

// MaxLimit returns the largest limit that a cell can hold. A larger finite limit decides as this
// one.
func (t *Table) MaxLimit() uint64 {
	if t.transition == nil {
		return t.tagged.MaxLimit()
	}
	return t.transition.MaxLimit()
}

// Bytes returns the memory of the table, which never changes.
func (t *Table) Bytes() int {
	bytes := len(t.words)*8 + len(t.reach)*4
	if t.overflow != nil {
		bytes += t.overflow.Bytes()
	}
	return bytes
}

// home returns the fingerprint of key and its home group. The multiplication spreads keys that are
// not hashes, such as small integers; it loses nothing, since its factor is odd.
func (t *Table) home(key uint64) (fingerprint, group uint64) {
	if key <= deadKey {
		key ^= standIn
	}
	group, _ = bits.Mul64(key*spread, t.groups)
	return key, group
}

const (
	neverUsed = 0 // fingerprint of a cell that no key has had
	deadKey   = 1 // fingerprint of a cell whose claim was killed

	// standIn moves the two keys that are reserved fingerprints to where no small integer is: 2^64
	// divided by pi, made even.
	standIn = 0x517cc1b727220a94

	// spread is 2^64 divided by the golden ratio, made odd (Knuth, The Art of Computer Programming,
	// volume 3, section 6.4).
	spread = 0x9e3779b97f4a7c15
)
