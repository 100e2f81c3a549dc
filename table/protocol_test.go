package table

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// A stage is a small table on which inserters take their steps one at a time.
type stage struct {
	*testing.T
	table *Table
	now   tallyring.Tick
}

// eachStage runs a scene on a table of every form.
func eachStage(t *testing.T, scene func(s stage)) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		scene(stage{t, newTable(t, w, 8), 1000 * ring(w)})
	})
}

const (
	keyA = 0x1234_5678_9abc_def0
	keyB = 0xfedc_ba98_7654_3210
	keyC = 0x0f1e_2d3c_4b5a_6978
)

// cell returns the i-th cell of key's probe range.
func (s stage) cell(key uint64, i uint64) uint64 {
	_, home := s.table.home(key)
	return (home*s.table.groupCells + i) % s.table.cells()
}

// scan is step 1 or 3 of an inserter of key.
func (s stage) scan(key uint64, now tallyring.Tick) sighting {
	_, home := s.table.home(key)
	return s.table.scan(key, home, s.table.index(now))
}

// claim is step 2, on the cell that was seen, and returns the pending state.
func (s stage) claim(key, cell uint64, now tallyring.Tick) uint64 {
	s.Helper()
	_, home := s.table.home(key)
	state, held := s.table.read(cell)
	s.table.extend(home, s.table.distance(key, cell))
	claim := s.table.states.claim(state, s.table.index(now))
	require.True(s, s.table.pair(cell).CompareAndSwap(held, state, key, claim))
	return claim
}

func (s stage) resolve(key, cell, state uint64) {
	_, home := s.table.home(key)
	s.table.resolve(key, home, cell, state)
}

// is checks who has a cell, and in which state.
func (s stage) is(cell, key uint64, isPending bool, state uint64) {
	s.Helper()
	got, held := s.table.read(cell)
	require.Equal(s, key, held, "fingerprint")
	require.Equal(s, isPending, pending(got), "pending")
	require.Equal(s, state, got, "state")
}

// fresh returns the settled state of a key that was just inserted.
func (s stage) fresh(now tallyring.Tick) uint64 {
	return s.table.index(now) << s.table.states.shift
}

// counts checks what a key counts now.
func (s stage) counts(key uint64, want uint64) {
	s.Helper()
	require.Equal(s, want, s.table.Read(key, s.now).High)
}

// Goal: an inserter that stops after its claim stops nobody, and what it does when it wakes does no
// harm. Method: claim, let another count, then take the stopped one's step.
func TestAStalledClaimIsResolvedByTheNext(t *testing.T) {
	eachStage(t, func(s stage) {
		saw := s.scan(keyA, s.now)
		require.True(s, saw.free)
		require.Equal(s, s.cell(keyA, 0), saw.freeCell)
		claim := s.claim(keyA, saw.freeCell, s.now)
		s.is(saw.freeCell, keyA, true, claim)
		s.counts(keyA, 0)
		require.True(s, s.table.Allow(keyA, s.now, 0, 1), "a peek beside a pending cell")
		s.is(saw.freeCell, keyA, true, claim)

		require.True(s, s.table.Allow(keyA, s.now, 2, 2))
		require.False(s, s.table.Allow(keyA, s.now, 1, 2))
		s.is(saw.freeCell, keyA, false, s.fresh(s.now)+2)
		s.resolve(keyA, saw.freeCell, claim) // the stopped one wakes
		s.is(saw.freeCell, keyA, false, s.fresh(s.now)+2)
		require.True(s, s.scan(keyA, s.now).settled)
	})
}

// Goal: of two pending cells of a key the first in probe order survives, whichever was claimed
// first and whoever resolves. Method: both orders of claims, every order of resolutions.
func TestOfTwoPendingCellsTheFirstSurvives(t *testing.T) {
	for _, firstClaimed := range []uint64{0, 1} {
		for _, firstResolved := range []uint64{0, 1} {
			eachStage(t, func(s stage) {
				cells := [2]uint64{s.cell(keyA, 0), s.cell(keyA, 1)}
				var claims [2]uint64
				for _, i := range []uint64{firstClaimed, 1 - firstClaimed} {
					claims[i] = s.claim(keyA, cells[i], s.now)
				}
				saw := s.scan(keyA, s.now)
				require.True(s, saw.pending)
				require.Equal(s, cells[0], saw.cell)
				for _, i := range []uint64{firstResolved, 1 - firstResolved} {
					s.resolve(keyA, cells[i], claims[i])
				}
				// Who resolves the later cell first gives way to the earlier one, and scans again.
				if saw = s.scan(keyA, s.now); saw.pending {
					s.resolve(keyA, saw.cell, saw.state)
				}
				require.True(s, s.table.Allow(keyA, s.now, 1, 1))
				s.is(cells[0], keyA, false, s.fresh(s.now)+1)
				require.NotContains(s, s.table.look().pending[keyA], cells[0])
				require.Empty(s, s.table.look().duplicates())
				s.resolve(keyA, cells[1], claims[1])
				s.is(cells[1], deadKey, true, claims[1])
				require.False(s, s.table.Allow(keyA, s.now, 1, 1))
			})
		}
	}
}

// Goal: a pending cell beside a settled one of its key is killed, whichever comes first in probe
// order, and what the key counts stays.
func TestAPendingCellGivesWayToASettledOne(t *testing.T) {
	for _, settledAt := range []uint64{0, 1} {
		eachStage(t, func(s stage) {
			settled, other := s.cell(keyA, settledAt), s.cell(keyA, 1-settledAt)
			claim := s.claim(keyA, settled, s.now)
			s.resolve(keyA, settled, claim)
			require.True(s, s.table.Allow(keyA, s.now, 3, 5))
			late := s.claim(keyA, other, s.now)
			require.True(s, s.table.Allow(keyA, s.now, 1, 5), "a hit beside a pending cell")
			s.resolve(keyA, other, late)
			s.is(other, deadKey, true, late)
			s.is(settled, keyA, false, s.fresh(s.now)+4)
			s.counts(keyA, 4)
			require.False(s, s.table.Allow(keyA, s.now, 2, 5))
		})
	}
}

// Goal: a claim that was killed can not be settled any more, though another claims the same cell
// for the same key under the same bucket. Method: claim, kill, claim again; then the first one's
// commit, and its kill, which must both fail.
func TestAKilledClaimIsNeverCommittedByAStaleScan(t *testing.T) {
	eachStage(t, func(s stage) {
		cell := s.cell(keyA, 0)
		seen := map[uint64]bool{}
		var stale []uint64
		for range 20 {
			claim := s.claim(keyA, cell, s.now)
			require.False(s, seen[claim])
			seen[claim] = true
			for _, old := range stale {
				s.resolve(keyA, cell, old)
				require.False(s, s.table.kill(keyA, cell, old))
				s.is(cell, keyA, true, claim)
			}
			require.True(s, s.table.kill(keyA, cell, claim))
			require.False(s, s.table.kill(keyA, cell, claim), "killed twice")
			s.is(cell, deadKey, true, claim)
			s.resolve(keyA, cell, claim)
			s.is(cell, deadKey, true, claim)
			stale = append(stale, claim)
		}
		// A clock behind and another key claim it too, and the state moves on.
		behind := s.claim(keyB, cell, s.now-1000)
		require.False(s, seen[behind])
		require.GreaterOrEqual(s, int64(0), s.table.states.behind(behind, s.table.index(s.now)))
		for _, old := range stale {
			s.resolve(keyA, cell, old)
		}
		s.is(cell, keyB, true, behind)
	})
}

// Goal: a pending cell whose inserter never came back expires like any other; another key takes it
// over, and the first one's late steps fail. One bucket before, it is not free.
func TestAnExpiredClaimIsTakenOver(t *testing.T) {
	eachStage(t, func(s stage) {
		cell := s.cell(keyB, 0)
		stale := s.claim(keyA, cell, s.now)
		end := s.now + ring(s.table.window) // now is the start of a bucket
		require.NotEqual(s, cell, s.scan(keyB, end-1).freeCell)
		require.Equal(s, cell, s.scan(keyB, end).freeCell)

		require.True(s, s.table.Allow(keyB, end, 2, 2))
		s.is(cell, keyB, false, s.fresh(end)+2)
		s.resolve(keyA, cell, stale)
		require.False(s, s.table.kill(keyA, cell, stale))
		require.False(s, s.table.pair(cell).State.CompareAndSwap(stale, 0))
		s.is(cell, keyB, false, s.fresh(end)+2)
		require.Equal(s, uint64(1), s.table.Stats(end).TakenOver)
	})
}

// Goal: a hit that read its cell before another key took it over changes nothing, and a takeover
// that read the cell before a hit fails. Method: both orders, with states read beforehand.
func TestAHitAndATakeoverExcludeEachOther(t *testing.T) {
	eachStage(t, func(s stage) {
		cell := s.cell(keyA, 0)
		require.True(s, s.table.Allow(keyA, s.now, 1, 9))
		end := s.now + ring(s.table.window)
		read, held := s.table.read(cell)
		require.Equal(s, uint64(keyA), held)

		// The hit comes first: at end, a new bucket of the same key.
		require.True(s, s.table.Allow(keyA, end, 1, 9))
		claim := s.table.states.claim(read, s.table.index(end))
		require.False(s, s.table.pair(cell).CompareAndSwap(keyA, read, keyB, claim))

		// The takeover comes first.
		read, _ = s.table.read(cell)
		s.now = end + ring(s.table.window)
		pendingState := s.claim(keyB, cell, s.now)
		for _, now := range []tallyring.Tick{end, s.now} {
			_, done := s.table.tryAllow(cell, read, now, 1, 9)
			require.False(s, done)
			_, done = s.table.tryAllow(cell, read, now, 20, 9) // a denial
			require.False(s, done)
			_, done = s.table.tryTake(cell, read, now, 1, 9)
			require.False(s, done)
		}
		s.is(cell, keyB, true, pendingState)
		s.resolve(keyB, cell, pendingState)
		for _, now := range []tallyring.Tick{end, s.now} {
			_, done := s.table.tryAllow(cell, read, now, 1, 9)
			require.False(s, done)
		}
		s.is(cell, keyB, false, s.fresh(s.now))
		s.counts(keyB, 0)
	})
}

// Goal: a goroutine that stopped within a rotation of the old key's ring, after its seal and before
// its copy, adds nothing to the new key when it wakes. Method: seal by hand, take the cell over,
// copy by hand as the protocol of package atomicring does, into every older bucket's place.
func TestAStaleCopyOfARotationCountsForNobody(t *testing.T) {
	eachStage(t, func(s stage) {
		if s.table.groupCells > 1 {
			s.Skip("a packed cell has nothing to copy")
		}
		states, w := s.table.states, s.table.window
		cell := s.cell(keyA, 0)
		require.True(s, s.table.Allow(keyA, s.now, 5, 9))
		head, _ := s.table.read(cell)
		sealed := head | 1<<(states.shift-1)
		require.True(s, s.table.pair(cell).State.CompareAndSwap(head, sealed))

		end := s.now + ring(w)
		claim := s.claim(keyB, cell, end)
		s.resolve(keyB, cell, claim)
		from := uint64(s.now) / uint64(w.Width)
		ring, older := s.table.ring(cell), uint64(w.Slots-1)
		slot := &ring[uint64(len(ring))-older+from%older]
		require.True(s, slot.CompareAndSwap(0, from<<states.shift|5))
		// Through the whole of the next ring, B counts what it counts.
		for i := range tallyring.Tick(w.Slots) {
			now := end + i*tallyring.Tick(w.Width)
			require.Equal(s, uint64(i), s.table.Read(keyB, now).High)
			d := s.table.Take(keyB, now, 1, 200)
			require.Equal(s, uint64(200-i-1), d.Remaining)
		}
	})
}

// Goal: a key that lies far from home is found though nearer cells are given up later, and a scan
// does not run past the cells that its home has ever reached.
func TestReachLeadsToFarCells(t *testing.T) {
	eachStage(t, func(s stage) {
		table := newTable(s, s.table.window, 400)
		_, home := table.home(keyA)
		require.Equal(s, uint64(1), table.reached(home))
		for distance := range table.bound {
			table.extend(home, distance)
			require.GreaterOrEqual(s, table.reached(home), distance)
			require.Less(s, table.reached(home), max(2, min(2*distance, table.bound)))
		}
		for _, neighbour := range []uint64{home + 1, home + table.groups - 1} {
			require.Equal(s, uint64(1), table.reached(neighbour%table.groups))
		}

		far := (home + table.bound - 1) % table.groups * table.groupCells
		st := stage{s.T, table, s.now}
		claim := st.claim(keyA, far, s.now)
		require.Equal(s, uint64(keyA), table.pairs[far*table.cellPairs].Key.Load())
		// The cells before it are not in use, as after expiry: then a scan may not stop at them.
		for cell := range table.cells() {
			if cell != far {
				table.pair(cell).Key.Store(deadKey)
				table.pair(cell).State.Store(pendingMark)
			}
		}
		require.True(s, table.Allow(keyA, s.now, 1, 1))
		require.False(s, table.Allow(keyA, s.now, 1, 1))
		state, held := table.read(far)
		require.Equal(s, uint64(keyA), held)
		require.Equal(s, table.states.settled(claim)+1, state)
	})
}

// Goal: a key that lost its cell finds no second budget by a late tick. Method: A spends its limit,
// its cell expires and is taken over, and A comes by a tick that is 1 ns late. Whatever is admitted
// then is counted where the spent budget counts no more, and only once.
func TestALateTickFindsNoSecondBudget(t *testing.T) {
	eachStage(t, func(s stage) { s.comeBackLate(false) })
}

// Goal: the same where a claim of A's own was left behind that is older than the takeover. Method:
// one of A's inserters is stopped after its claim, while A has a settled cell.
func TestAClaimLeftBehindGivesNoSecondBudget(t *testing.T) {
	eachStage(t, func(s stage) { s.comeBackLate(true) })
}

func (s stage) comeBackLate(claimLeft bool) {
	first := s.claim(keyA, s.cell(keyA, 0), s.now)
	s.resolve(keyA, s.cell(keyA, 0), first)
	if claimLeft {
		s.claim(keyA, s.cell(keyA, 1), s.now)
	}
	require.True(s, s.table.Allow(keyA, s.now, 9, 9))
	end := s.now + ring(s.table.window)
	require.True(s, s.table.Allow(s.table.neighbour(keyA), end, 1, 9))
	require.Equal(s, uint64(1), s.table.Stats(end).TakenOver)
	_, held := s.table.read(s.cell(keyA, 0))
	require.NotEqual(s, uint64(keyA), held, "A lost its cell")
	d := s.table.Take(keyA, end-1, 9, 9)
	require.True(s, d.Allowed)
	require.GreaterOrEqual(s, d.At, end, "the tick at which it was counted")
	for _, now := range []tallyring.Tick{0, end - 1, end} {
		require.False(s, s.table.Allow(keyA, now, 1, 9))
	}
}
