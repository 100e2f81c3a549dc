package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// The tests of this file are faults of the field, each with the right value. Every one runs on a
// key among others, for cells of either shape.

const second = tallyring.Tick(time.Second)

// trap is a table with a few other keys in it, which no trap may disturb.
type trap struct {
	*testing.T
	*Table
}

const bystanders = 5

// bystanderTick is when the other keys were counted: as far from the ticks of a trap as ticks may
// be.
const bystanderTick = tallyring.Tick(tallyring.MaxLength)

// eachTrap runs a test for windows of the given slots and width: in the form that suits them, and
// if that is packed, in the tagged form too, where there is a limit that asks for it.
func eachTrap(t *testing.T, w tallyring.Window, test func(t trap)) {
	table, err := New(Config{Window: w, Keys: 100})
	require.NoError(t, err)
	runTrap(t, table, test)
	if table.groupCells == 1 {
		return
	}
	table, err = New(Config{Window: w, MaxLimit: table.MaxLimit() + 1, Keys: 100})
	if w.Slots == 2 {
		require.NoError(t, err)
		runTrap(t, table, test)
	}
}

func runTrap(t *testing.T, table *Table, test func(t trap)) {
	name := fmt.Sprintf("%d/packed=%v", table.window.Slots, table.groupCells > 1)
	t.Run(name, func(t *testing.T) {
		for key := range uint64(bystanders) {
			require.True(t, table.Allow(key, bystanderTick, key+1, 200))
		}
		test(trap{t, table})
		for key := range uint64(bystanders) {
			require.Equal(t, key+1, table.Read(key, bystanderTick).High, "another key's count")
		}
	})
}

// admitted asks times times and returns how many were admitted.
func (t trap) admitted(key uint64, now tallyring.Tick, cost, limit uint64, times int) int {
	n := 0
	for range times {
		if t.Allow(key, now, cost, limit) {
			n++
		}
	}
	return n
}

// Goal: a clock that goes back and forth does not refill.
func TestTrapLateTick(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			total := t.admitted(99, 10*second, 1, 10, 10)
			for range 1000 {
				total += t.admitted(99, 9*second, 1, 10, 1)
				total += t.admitted(99, 10*second, 1, 10, 1)
				total += t.admitted(99, -5, 1, 10, 1)
			}
			require.Equal(t, 10, total)
			d := t.Take(99, 9*second, 1, 10)
			require.Equal(t, 10*second, d.At)
			require.Equal(t, uint64(0), d.Remaining)
		})
	}
}

// Goal: after a gap longer than the ring nothing of the old window is left, and only that.
func TestTrapIdleGap(t *testing.T) {
	eachTrap(t, tallyring.Window{Slots: 11, Width: time.Second}, func(t trap) {
		for i := range tallyring.Tick(10) {
			require.True(t, t.Allow(99, i*second+second/2, 1, 100))
		}
		require.True(t, t.Allow(99, 20*second+second/2, 1, 100))
		require.Equal(t, tallyring.Reading{Low: 1, Estimate: 1, High: 1},
			t.Read(99, 20*second+second/2))
	})
	for _, gap := range []time.Duration{10 * time.Hour, tallyring.MaxLength} {
		eachTrap(t, tallyring.Window{Slots: 2, Width: time.Second}, func(t trap) {
			require.Equal(t, 3, t.admitted(99, 5, 1, 3, 9))
			later := tallyring.Tick(gap) + 5
			require.Equal(t, uint64(0), t.Read(99, later).High)
			require.Equal(t, 3, t.admitted(99, later, 1, 3, 9))
		})
	}
}

// Goal: the gap at which a narrow time field would alias reads 0, and so do its neighbours.
func TestTrapTickWrap(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Millisecond}, func(t trap) {
			key := uint64(50)
			for bits := 8; bits < 39; bits++ { // up to 2^38 ms, 8.7 years
				for _, off := range []int64{-2, -1, 0, 1, 2} {
					key++
					gap := tallyring.Tick(int64(1)<<bits+off) * tallyring.Tick(time.Millisecond)
					base := bystanderTick - gap
					require.Equal(t, 7, t.admitted(key, base, 1, 7, 7))
					require.Equal(t, uint64(0), t.Read(key, base+gap).High)
					t.Refund(key, base, 7)
				}
				t.reset()
			}
		})
	}
}

// reset empties the table of all but the bystanders.
func (t trap) reset() {
	for cell := range t.cells() {
		if _, key := t.read(cell); key > 50 && key < 1000 {
			t.pair(cell).State.Store(pendingMark)
			t.pair(cell).Key.Store(deadKey)
		}
	}
}

// Goal: a large limit neither overflows nor turns negative, and is whole again after an idle
// window.
func TestTrapOverflow(t *testing.T) {
	const limit = 980_000_000
	w := tallyring.Window{Slots: 2, Width: 10 * time.Second}
	table, err := New(Config{Window: w, MaxLimit: limit, Keys: 4})
	require.NoError(t, err)
	require.True(t, table.Allow(1, 0, limit, limit))
	require.False(t, table.Allow(1, 0, 1, limit))
	d := table.Take(1, 20*second, 0, limit)
	require.True(t, d.Allowed)
	require.Equal(t, uint64(limit), d.Remaining)
	require.True(t, table.Allow(1, 20*second, limit, limit))
	for _, cost := range []uint64{math.MaxUint64, math.MaxInt64, 1 << 63, math.MaxUint32} {
		d := table.Take(1, 20*second, cost, limit)
		require.False(t, d.Allowed)
		require.Equal(t, tallyring.Never, d.RetryAfter)
	}
}

// Goal: a denied event is not charged.
func TestTrapDeniedEventCharged(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			require.True(t, t.Take(99, 5, 8, 10).Allowed)
			require.False(t, t.Take(99, 5, 5, 10).Allowed)
			d := t.Take(99, 5, 1, 10)
			require.True(t, d.Allowed)
			require.Equal(t, uint64(1), d.Remaining)
		})
	}
}

// Goal: a raised limit acts at once, a lowered one too, and the same limit again refills nothing.
func TestTrapLimitChanged(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			require.Equal(t, 2, t.admitted(99, 5, 1, 15, 2))
			d := t.Take(99, 5, 1, 1500)
			require.True(t, d.Allowed)
			require.Equal(t, uint64(1497), d.Remaining)
			require.False(t, t.Allow(99, 5, 1, 3))
			require.True(t, t.Allow(99, 5, 1, 4))
		})
	}
}

// Goal: identical reload: the same limit, given again, finds the same counts.
func TestTrapIdenticalReload(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			require.Equal(t, 10, t.admitted(99, 5, 1, 10, 20))
			for _, limit := range []uint64{10, tallyring.Unlimited, 10} {
				d := t.Take(99, 5, 0, limit)
				require.True(t, d.Allowed)
			}
			require.Zero(t, t.admitted(99, 5, 1, 10, 20))
		})
	}
}

// Goal: sweeper against a live key: the last tick at which a key counts anything keeps its cell,
// the next one frees it, and one who looks with an older clock never frees it.
func TestTrapSweeperAgainstALiveKey(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table := newTable(t, w, 1)
		n := table.cells()
		start := 100 * ring(w)
		for key := range n {
			require.True(t, table.Allow(key, start, 1, 5))
		}
		end := start + ring(w)
		for _, now := range []tallyring.Tick{0, start - 1, start, end - 1} {
			require.False(t, table.Allow(1000, now, 1, 5), "a live key's cell was given away")
			require.Equal(t, n, table.Stats(max(now, start)).Live)
		}
		require.Zero(t, table.Stats(end).Live)
		require.Equal(t, n, table.Stats(end).Expired)
		for key := range n {
			require.Equal(t, uint64(1), table.Read(key, start).High)
		}
		require.True(t, table.Allow(1000, end, 1, 5))
		require.Equal(t, n-1, table.Stats(end).Expired)
		require.Equal(t, uint64(1), table.Stats(end).TakenOver)
	})
}

// Goal: a flood of new keys never gives a key that is over its limit a fresh budget (S18), under
// any policy. Method: a table of 10,000, A at its limit; then 100,000 new keys, A asked all the
// while. A build that is slow takes 25,000 keys, and one policy for the wide cells.
func TestTrapKeyFlood(t *testing.T) {
	for _, slots := range []int{2, 7} {
		for _, policy := range []Policy{Deny, Allow, Overflow} {
			flood := max(scaled(100_000), 25_000)
			if flood < 100_000 && slots > 2 && policy != Deny {
				continue
			}
			w := tallyring.Window{Slots: slots, Width: time.Minute}
			table, err := New(Config{Window: w, Keys: 10_000, WhenFull: policy})
			require.NoError(t, err)
			trap := trap{t, table}
			const a = 42
			require.Equal(t, 10, trap.admitted(a, 5, 1, 10, 11))
			random := rand.New(rand.NewPCG(21, 22))
			for i := range flood {
				table.Allow(random.Uint64(), 5, 1, 10)
				if i >= 10_000 && i%100 == 0 {
					require.False(t, table.Allow(a, 5, 1, 10), "after %d keys", i)
				}
			}
			require.Zero(t, trap.admitted(a, 5, 1, 10, 10))
			require.Equal(t, uint64(10), table.Read(a, 5).High)
			stats := table.Stats(5)
			require.Zero(t, stats.TakenOver)
			require.Equal(t, uint64(flood+1), stats.Live+stats.Refused)
			require.Greater(t, stats.Refused, uint64(flood)/4)
			require.Greater(t, stats.Live, stats.Cells-stats.Cells/20, "the flood filled the table")
		}
	}
}

// Goal: check, then add: see TestExactlyTheLimitPassesOnAFreshKey. Here the same, one after
// another.
func TestTrapCheckThenAdd(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		require.Equal(t, 25, trap{t, newTable(t, w, 2)}.admitted(7, 5, 1, 25, 50))
	})
}

// Goal: a cost above the limit can never pass, and says so; nothing is counted and no key created.
func TestTrapCostAboveLimit(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			live := t.Stats(5).Cells - t.free()
			for _, cost := range []uint64{4, math.MaxUint64} {
				d := t.Take(99, 5, cost, 3)
				require.Equal(t, tallyring.Decision{Limit: 3, Remaining: 3, At: 5,
					RetryAfter: tallyring.Never}, d)
				require.False(t, t.Allow(99, 5, cost, 3))
			}
			require.Equal(t, live, t.Stats(5).Cells-t.free(), "a key was created")
			require.Equal(t, 3, t.admitted(99, 5, 1, 3, 4))
			require.Equal(t, tallyring.Never, t.Take(99, 5, 4, 3).RetryAfter)
		})
	}
}

// free returns how many cells were never used.
func (t trap) free() (n uint64) {
	for cell := range t.cells() {
		if state, key := t.read(cell); key == neverUsed && state == 0 {
			n++
		}
	}
	return n
}

// Goal: cost 0 asks and changes nothing: no key is created, none is rotated.
func TestTrapCostZero(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			before := t.memory()
			require.True(t, t.Allow(99, 5, 0, 3))
			require.Equal(t, tallyring.Decision{Allowed: true, Limit: 3, Remaining: 3, At: 5},
				t.Take(99, 5, 0, 3))
			require.True(t, t.Allow(99, 5, 0, tallyring.Unlimited))
			require.Equal(t, before, t.memory())
			require.Equal(t, 3, t.admitted(99, 5, 1, 3, 4))
			require.True(t, t.Allow(99, 5, 0, 3), "a full key still answers a peek")
			require.False(t, t.Allow(99, 5, 0, 2))
			before = t.memory()
			require.True(t, t.Allow(99, 20*second, 0, 3))
			require.Equal(t, before, t.memory(), "a peek rotated the ring")
		})
	}
}

// Goal: limit 0 denies everything, for ever.
func TestTrapLimitZero(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			for _, cost := range []uint64{0, 1, math.MaxUint64} {
				require.False(t, t.Allow(99, 5, cost, 0))
				require.Equal(t, tallyring.Decision{At: 5, RetryAfter: tallyring.Never},
					t.Take(99, 5, cost, 0))
			}
			require.Equal(t, 1, t.admitted(99, 5, 1, 1, 9))
			require.False(t, t.Allow(99, 5, 0, 0))
		})
	}
}

// Goal: Remaining never falls below 0, whatever was denied or lowered.
func TestTrapRemaining(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			for _, want := range []uint64{2, 1, 0, 0, 0, 0} {
				require.Equal(t, want, t.Take(99, 5, 1, 3).Remaining)
			}
			require.Equal(t, uint64(0), t.Take(99, 5, 1, 1).Remaining)
			require.Equal(t, uint64(0), t.Take(99, 5, 1, 2).Remaining)
		})
	}
}

// Goal: who waits for RetryAfter passes, and who comes one nanosecond before does not.
func TestTrapRetryAfter(t *testing.T) {
	for _, slots := range []int{1, 2, 7} {
		eachTrap(t, tallyring.Window{Slots: slots, Width: time.Second}, func(t trap) {
			now := 7*second + 600_000_000
			require.Equal(t, 10, t.admitted(99, now, 1, 10, 11))
			wait := t.Take(99, now, 1, 10).RetryAfter
			require.Positive(t, wait)
			require.False(t, t.Allow(99, now+tallyring.Tick(wait)-1, 1, 10))
			require.True(t, t.Allow(99, now+tallyring.Tick(wait), 1, 10))
			if slots == 1 {
				require.Equal(t, 400*time.Millisecond, wait)
			}
		})
	}
}
