package litmus

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestRaceFails shows that a race can fail: on an outcome that is not listed, which a limiter that
// checks and then adds has, and on a listed one that never appears.
func TestRaceFails(t *testing.T) {
	once := []outcome{
		{"true | false | 1", "the first first"}, {"false | true | 1", "the second first"},
	}
	fault, report := newRace("check, then add", once, func(t testing.TB) contest {
		var count atomic.Int64
		move := func() string {
			if count.Load() >= 1 {
				return "false"
			}
			dawdle()
			count.Add(1)
			return "true"
		}
		return contest{[]func() string{move, move},
			func() string { return fmt.Sprint(count.Load()) }}
	}).play(t, 20)
	require.Equal(t, "it ended in a way that is not permitted: true | true | 2", fault, report)

	fault, report = newRace("no race", once, func(t testing.TB) contest {
		return contest{[]func() string{
			func() string { return "true" }, func() string { return "false" },
		}, func() string { return "1" }}
	}).play(t, 20)
	require.Equal(t, "it never ended so: false | true | 1", fault, report)
}

// TestIntervalFails shows that a bout can fail: on a reader that is a reading behind, on one that
// sees what has not begun, and on a counter that loses what two add at once.
func TestIntervalFails(t *testing.T) {
	w := tallyring.Window{Slots: 1, Width: width}
	reading := func(count uint64) tallyring.Reading {
		return tallyring.Reading{Low: count, Estimate: float64(count), High: count}
	}
	var count, previous atomic.Uint64
	add := func(tallyring.Tick) bool { count.Add(1); return true }
	for _, test := range []struct {
		name, want string
		counter
	}{
		{"sound", "", counter{add,
			func(tallyring.Tick) tallyring.Reading { return reading(count.Load()) }}},
		{"behind", "want", counter{add,
			func(tallyring.Tick) tallyring.Reading {
				return reading(previous.Swap(count.Load()))
			}}},
		{"ahead", "want", counter{add,
			func(tallyring.Tick) tallyring.Reading { return reading(count.Load() + adders + 1) }}},
		{"load, then store", "want", counter{
			func(tallyring.Tick) bool {
				before := count.Load()
				runtime.Gosched()
				count.Store(before + 1)
				return true
			},
			func(tallyring.Tick) tallyring.Reading { return reading(count.Load()) }}},
	} {
		count.Store(0)
		previous.Store(0)
		var seen evidence
		text := seen.bout(test.counter, w)
		require.Equal(t, test.want != "", text != "", "%s: %q", test.name, text)
		require.True(t, strings.Contains(text, test.want), "%s: %q", test.name, text)
	}
}
