package table

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// An actor inserts a key in steps: each begins with what the last scan saw, acts on it with one
// swap or one resolution, or scans. It is done once it has scanned a settled cell.
type actor struct {
	key  uint64
	now  tallyring.Tick
	saw  sighting
	acts bool // the next step acts on saw
	done bool
	full bool // it found no cell
}

// step takes one step of Table.insert.
func (a *actor) step(t *Table) {
	_, home := t.home(a.key)
	if !a.acts {
		a.saw = t.scan(a.key, home, t.index(a.now))
		a.done = a.saw.settled
		a.acts = !a.done
		return
	}
	a.acts = false
	s := a.saw
	switch {
	case s.pending:
		t.resolve(a.key, home, s.cell, s.state)
	case !s.free:
		a.done, a.full = true, true
	default:
		t.extend(home, s.freeDistance)
		t.pair(s.freeCell).CompareAndSwap(s.freeKey, s.freeState, a.key,
			t.states.claim(s.freeState, t.index(a.now)))
	}
}

// maxCast is the most actors of a scene, and maxCells the most cells.
const (
	maxCast  = 4
	maxCells = 10
)

// A moment is everything on which the rest of a schedule depends.
type moment struct {
	cells  [maxCells][2]uint64
	reach  uint32
	actors [maxCast]actor
}

// schedules explores every order in which the actors of a scene may take their steps. Two orders
// that lead to the same moment go on as one.
type schedules struct {
	t     *testing.T
	table *Table
	cast  int
	seen  map[moment]bool

	ends, dead, reclaimed, left int
}

// save and load copy a moment from and to the table.
func (s *schedules) save(m *moment) {
	for cell := range s.table.cells() {
		m.cells[cell][1], m.cells[cell][0] = s.table.read(cell)
	}
	m.reach = s.table.reach[0].Load()
}

func (s *schedules) load(m *moment) {
	for cell := range s.table.cells() {
		s.table.pair(cell).Key.Store(m.cells[cell][0])
		s.table.pair(cell).State.Store(m.cells[cell][1])
	}
	s.table.reach[0].Store(m.reach)
}

// explore plays every schedule from m on, depth steps after the start. Each ends: a bound of steps,
// far above what any order takes, fails the test.
func (s *schedules) explore(m moment, depth int) {
	if s.seen[m] {
		return
	}
	s.seen[m] = true
	if depth > 80 {
		s.t.Fatalf("no end after %d steps: %+v", depth, m)
	}
	open := false
	for who := range s.cast {
		if m.actors[who].done {
			continue
		}
		open = true
		s.load(&m)
		next := m
		next.actors[who].step(s.table)
		s.save(&next)
		s.check(&next)
		s.explore(next, depth+1)
	}
	if !open {
		s.load(&m)
		s.checkEnd(&m)
	}
}

// check looks at the table after a step. It takes no census, which would take most of the time.
func (s *schedules) check(m *moment) {
	for i, cell := range m.cells {
		key, state := cell[0], cell[1]
		switch {
		case key == deadKey:
			s.dead++
			fallthrough
		case pending(state):
			if state<<(65-s.table.states.shift) != 0 {
				s.reclaimed++
			}
			continue
		case key == neverUsed:
			continue
		}
		for _, other := range m.cells[:i] {
			if other[0] == key && !pending(other[1]) {
				s.t.Fatalf("two settled cells of %x: %+v", key, m)
			}
		}
	}
}

// checkEnd looks at the table when every actor is done.
func (s *schedules) checkEnd(m *moment) {
	c := s.table.look()
	s.ends++
	for _, a := range m.actors[:s.cast] {
		if a.full || len(c.homes[a.key]) != 1 {
			s.t.Fatalf("an actor has no cell: %+v", m)
		}
	}
	for _, cells := range c.pending {
		s.left += len(cells)
	}
}

// neighbour returns another key with the same home as key.
func (t *Table) neighbour(key uint64) uint64 {
	_, home := t.home(key)
	for other := key + 1; ; other++ { // ends soon: the table has few homes
		if _, at := t.home(other); at == home {
			return other
		}
	}
}

// Goal: no order of steps gives a key two settled cells, leaves an inserter without one, or lets
// inserters undo each other for ever. Method: every schedule of up to four inserters of one or two
// keys with one home, whatever their clocks, over cells that are expired for all clocks, or for the
// fast one only, or dead.
func TestEveryScheduleOfInsertersAgrees(t *testing.T) {
	shapes := []form{
		{"packed", tallyring.Window{Slots: 2, Width: time.Minute}},
		{"tagged", tallyring.Window{Slots: 3, Width: time.Second}},
	}
	dead, reclaimed, left := 0, 0, 0
	for _, f := range shapes {
		table := newTable(t, f.window, 4)
		other := table.neighbour(keyA)
		for _, keys := range [][]uint64{
			{keyA, keyA, keyA}, {keyA, keyA, other}, {keyA, keyA, other, other},
			{keyA, keyA, keyA, other}, {keyA, keyA, keyA, keyA},
		} {
			if len(keys) > 3 && scaled(10) < 10 {
				continue // too slow here
			}
			for fast := range 1 << len(keys) { // which of them have the fast clock
				if repeats(keys, fast) {
					continue
				}
				s := &schedules{t: t, table: table, cast: len(keys), seen: map[moment]bool{}}
				s.explore(scene(table, keys, fast), 0)
				require.Greater(t, s.ends, 0)
				dead, reclaimed = dead+s.dead, reclaimed+s.reclaimed
				left += s.left
			}
		}
	}
	t.Logf("over all moments: %d dead cells, %d tickets; %d pending cells left at the ends",
		dead, reclaimed, left)
	assert.Positive(t, dead, "no schedule killed a claim")
	assert.Positive(t, reclaimed, "no schedule claimed a dead cell again")
}

// repeats tells whether another choice of the fast ones differs only by the names of two actors:
// each key's fast ones come last.
func repeats(keys []uint64, fast int) bool {
	for i := range len(keys) - 1 {
		if keys[i] == keys[i+1] && fast>>i&1 > fast>>(i+1)&1 {
			return true
		}
	}
	return false
}

// scene returns the first moment of inserters of keys, of which those in the bits of fast have the
// fast clock. The others are one bucket behind.
func scene(table *Table, keys []uint64, fast int) moment {
	width := int64(table.window.Width)
	clock := 1000 * int64(ring(table.window))
	_, home := table.home(keyA)
	m := moment{}
	for i, age := range []int64{int64(table.window.Slots), 9, int64(table.window.Slots)} {
		cell := (home*table.groupCells + uint64(i)) % table.cells()
		bucket := uint64(clock/width - age)
		m.cells[cell] = [2]uint64{0x7777_0000 + uint64(i), bucket<<table.states.shift | 1}
	}
	for i, key := range keys {
		m.actors[i] = actor{key: key, now: tallyring.Tick(clock)}
		if fast>>i&1 == 0 {
			m.actors[i].now -= tallyring.Tick(width)
		}
	}
	return m
}
