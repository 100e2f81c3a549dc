package tallyring_test

import (
	"os"
	"reflect"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// guarded is a table whose cells cannot be written.
type guarded struct {
	*testing.T
	*table.Table
	address, length uintptr // the whole pages of its cells
}

// guard takes the right to write from all whole pages of a table's cells.
func guard(t *testing.T, cells *table.Table) guarded {
	t.Helper()
	lines := reflect.ValueOf(cells).Elem().FieldByName("lines")
	page := uintptr(os.Getpagesize())
	first := (lines.Pointer() + page - 1) / page * page
	end := (lines.Pointer() + uintptr(lines.Len())*tallyring.LineBytes) / page * page
	require.Greater(t, end, first+10*page, "a table too small to hold whole pages")
	g := guarded{t, cells, first, end - first}
	g.protect(syscall.PROT_READ)
	return g
}

func (g guarded) protect(rights uintptr) {
	g.Helper()
	_, _, failed := syscall.Syscall(syscall.SYS_MPROTECT, g.address, g.length, rights)
	require.Zero(g, failed, "mprotect")
}

// faults tells whether a call writes to where it must not.
func (g guarded) faults(call func()) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	call()
	return false
}

const guardedKeys = 2_000

// Goal: denials, peeks and readings are loads only (S3, S4): not even a write of what is there
// already, which would take the line from all other processors, as a load by the double-word
// instruction does. Method: every such call on keys of a table whose pages cannot be written, in
// the newest bucket, before and after it. Admissions there do fault, so the guard guards.
func TestDenialsAndReadingsAreLoadsOnly(t *testing.T) {
	for name, w := range map[string]tallyring.Window{
		"fixed":  {Slots: 1, Width: time.Second},
		"packed": {Slots: 2, Width: time.Second},
		"tagged": {Slots: 7, Width: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			cells, err := table.New(table.Config{Window: w, Keys: 20_000})
			require.NoError(t, err)
			now := tallyring.Tick(100*w.Width) + 5
			for key := range uint64(guardedKeys) {
				require.True(t, cells.Allow(key, now, 3, 4))
			}
			g := guard(t, cells)
			defer g.protect(syscall.PROT_READ | syscall.PROT_WRITE)
			require.False(t, g.faults(func() { g.ask(w, now) }), "a denial or a reading wrote")
			if !tallyring.PairLockFree() {
				return // under the race detector a fault would end the process
			}
			faults := 0
			for key := range uint64(guardedKeys) {
				if g.faults(func() { g.Allow(key, now, 1, 4) }) {
					faults++
				}
			}
			require.Greater(t, faults, guardedKeys*9/10, "admissions write")
		})
	}
}

// ask makes every call that must not write.
func (g guarded) ask(w tallyring.Window, now tallyring.Tick) {
	keys, allowed := make([]uint64, 64), make([]bool, 64)
	for key := range uint64(guardedKeys) {
		for _, ahead := range []tallyring.Tick{-tallyring.Tick(w.Width), 0, 1} {
			require.False(g, g.Allow(key, now+ahead, 2, 4))
			require.False(g, g.Take(key, now+ahead, 2, 4).Allowed)
		}
		if next := now + tallyring.Tick(w.Width) - 5; w.Slots > 1 {
			require.False(g, g.Allow(key, next, 2, 4), "in the next bucket")
			require.False(g, g.Take(key, next, 2, 4).Allowed)
			require.Equal(g, uint64(3), g.Read(key, next).High)
		}
		require.True(g, g.Allow(key, now, 0, 4), "a peek")
		require.True(g, g.Take(key, now, 0, 4).Allowed)
		require.False(g, g.Allow(key, now, 5, 4), "above the limit")
		require.False(g, g.Allow(key, now, 1, 0), "limit 0")
		require.Equal(g, uint64(3), g.Read(key, now).High)
		require.Zero(g, g.Read(key+1<<40, now).High, "a key that is not there")
		require.True(g, g.Allow(key+1<<40, now, 0, 4))
		keys[key%64] = key
	}
	g.AllowMany(keys, now, 2, 4, allowed)
	require.NotContains(g, allowed, true)
	g.Stats(now)
}
