package table

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// fill returns a table of the policy in which every cell is a live key's at tick now, and the keys.
func fill(t *testing.T, w tallyring.Window, p Policy, now tallyring.Tick) (*Table, []uint64) {
	t.Helper()
	table, err := New(Config{Window: w, Keys: 30, WhenFull: p})
	require.NoError(t, err)
	var keys []uint64
	for key := uint64(100); table.Stats(now).Live < table.cells(); key++ {
		live := table.Stats(now).Live
		table.Allow(key, now, 1, 9)
		if table.Stats(now).Live > live {
			keys = append(keys, key)
		}
		require.Less(t, key, uint64(100_000), "the table does not fill")
	}
	return table, keys
}

// Goal: a full table that denies says when to come back, counts the refusal, and evicts nobody.
func TestFullTableDenies(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table, keys := fill(t, w, Deny, 5)
		before, refused := table.memory(), table.Stats(5).Refused
		require.False(t, table.Allow(7, 5, 1, 9))
		require.Equal(t, tallyring.Decision{Limit: 9, At: 5, RetryAfter: w.Length()},
			table.Take(7, 5, 1, 9))
		require.False(t, table.Allow(7, 5, 1, tallyring.Unlimited))
		require.Equal(t, table.MaxLimit(), table.Take(7, 5, 1, table.MaxLimit()+1).Limit)
		require.Equal(t, refused+4, table.Stats(5).Refused)
		require.Equal(t, tallyring.Reading{}, table.Read(7, 5))
		table.Refund(7, 5, 1)
		require.Equal(t, before, table.memory())
		for _, key := range keys {
			require.Equal(t, uint64(1), table.Read(key, 5).High)
			require.True(t, table.Allow(key, 5, 1, 2), "a key with a cell goes on")
		}
		// What can never pass is not refused for want of a cell.
		require.Equal(t, tallyring.Never, table.Take(7, 5, 10, 9).RetryAfter)
		require.Equal(t, tallyring.Never, table.Take(7, 5, 1, 0).RetryAfter)
		require.Equal(t, refused+4, table.Stats(5).Refused)
		// When the window has passed there is a cell again.
		require.True(t, table.Allow(7, ring(w), 1, 9))
	})
}

// Goal: a full table that allows counts nothing but the refusal.
func TestFullTableAllows(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table, keys := fill(t, w, Allow, 5)
		before, refused := table.memory(), table.Stats(5).Refused
		for range 20 {
			require.True(t, table.Allow(7, 5, 1, 9))
		}
		require.Equal(t, tallyring.Decision{
			Allowed: true, Limit: 9, Remaining: 9, At: tallyring.Uncounted,
		}, table.Take(7, 5, 1, 9))
		require.False(t, table.Allow(7, 5, 10, 9), "a cost above the limit")
		require.False(t, table.Allow(7, 5, 1, 0))
		require.Equal(t, refused+21, table.Stats(5).Refused)
		require.Equal(t, before, table.memory())
		for _, key := range keys {
			require.Equal(t, uint64(1), table.Read(key, 5).High)
			table.Refund(key, tallyring.Uncounted, 1)
			require.Equal(t, uint64(1), table.Read(key, 5).High, "nothing was counted to take back")
		}
	})
}

// Goal: keys without a cell share one ring, which decides and refunds like any other.
func TestFullTableOverflows(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table, keys := fill(t, w, Overflow, 5)
		const limit = 200
		before, refused := table.memory(), table.Stats(5).Refused
		shared := min(refused, 9) // what filling the table has counted there
		for i := shared; i < limit; i++ {
			require.True(t, table.Allow(1<<40+i, 5, 1, limit), "event %d", i)
		}
		require.False(t, table.Allow(7, 5, 1, limit))
		d := table.Take(8, 5, 1, limit)
		require.False(t, d.Allowed)
		require.Positive(t, d.RetryAfter)
		require.NotEqual(t, tallyring.Never, d.RetryAfter)
		table.Refund(8, 5, 2)
		d = table.Take(9, 5, 1, limit)
		require.True(t, d.Allowed)
		require.Equal(t, uint64(1), d.Remaining)
		require.Equal(t, limit-shared+3+refused, table.Stats(5).Refused)
		require.Equal(t, before, table.memory(), "cells")
		for _, key := range keys {
			require.Equal(t, uint64(1), table.Read(key, 5).High)
		}
		require.True(t, table.Allow(7, ring(w), 1, 1), "a cell again, and a budget of its own")
	})
}

// Goal: every count of Stats is right. Method: a table whose cells are known one by one.
func TestStatsCountCells(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table := newTable(t, w, 300)
		start := 50 * ring(w)
		require.Equal(t, Stats{Cells: table.cells(), Bytes: table.Bytes()}, table.Stats(start))
		for key := range uint64(200) {
			require.True(t, table.Allow(key, start, 1, 9))
		}
		end := start + ring(w)
		for key := range uint64(100) {
			require.True(t, table.Allow(key, end, 1, 9)) // in place
		}
		require.False(t, table.Allow(1000, end, 1, 0))
		stats := table.Stats(end)
		require.Equal(t, uint64(100), stats.Live)
		require.Equal(t, uint64(100), stats.Expired)
		require.Equal(t, uint64(0), stats.Pending)
		require.Equal(t, uint64(0), stats.TakenOver)
		require.Equal(t, uint64(200), table.Stats(start).Live)
		probes, farthest := [8]uint64{}, uint64(0)
		for key := range uint64(100) {
			cell, ok := table.cellOf(key)
			require.True(t, ok)
			fingerprint, home := table.home(key)
			distance := (cell/table.groupCells + table.groups - home) % table.groups
			require.Equal(t, distance, table.distance(fingerprint, cell))
			probes[min(distance, 7)]++
			farthest = max(farthest, distance)
		}
		require.Equal(t, probes, stats.Probes)
		require.Equal(t, farthest, stats.Farthest)

		// A claim that nobody came back for, and one that was killed.
		s := stage{t, table, end}
		saw := s.scan(keyA, end)
		s.claim(keyA, saw.freeCell, end)
		saw = s.scan(keyB, end)
		claim := s.claim(keyB, saw.freeCell, end)
		require.True(t, table.kill(keyB, saw.freeCell, claim))
		require.Equal(t, uint64(2), table.Stats(end).Pending)

		later := end + ring(w)
		before := table.Stats(later)
		require.Zero(t, before.Live)
		for key := uint64(5000); key < 5300; key++ {
			require.True(t, table.Allow(key, later, 1, 9))
		}
		stats = table.Stats(later)
		require.Equal(t, uint64(300), stats.Live)
		require.Equal(t, stats.TakenOver, before.Expired-stats.Expired+1, "and the claim given up")
		require.Equal(t, uint64(0), stats.Refused)
	})
}

// Goal: new keys find a cell as soon as one of their probe range has expired, and never before,
// though the rest of the table is live. Method: keys that expire one bucket after another.
func TestCellsComeFreeOneByOne(t *testing.T) {
	w := tallyring.Window{Slots: 3, Width: time.Second}
	table := newTable(t, w, 1)
	n := table.cells()
	for i := range n {
		require.True(t, table.Allow(i, tallyring.Tick(i)*second, 1, 9))
	}
	for i := range n {
		end := tallyring.Tick(i+3) * second
		require.False(t, table.Allow(100+i, end-1, 1, 9))
		require.True(t, table.Allow(100+i, end, 1, 9))
		require.False(t, table.Allow(200+i, end, 1, 9))
		require.Equal(t, uint64(1), table.Read(100+i, end).High)
	}
}
