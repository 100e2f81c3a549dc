package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/slidinglog"
)

const plainWidth = int64(400 * time.Millisecond)

// plainShapes are the shapes that the plain window is tried in.
var plainShapes = map[string]shape{
	"interpolated": {interpolated, plainWidth, 2},
	"strict":       {whole, plainWidth, 4},
	"fixed":        {whole, plainWidth, 1},
}

// windowFaults are what a plain window may do wrong, and what the oracle says of it: of the counts
// of buckets, of the limit, of a fill, of a reading, or of an answer.
var windowFaults = []struct {
	fault, says string
	shapes      []string
}{
	{"admits one too many", `want (exactly|at most)`, nil},
	{"denies one too early", `want exactly`, nil},
	{"loses a count", `buckets .* hold`, nil},
	{"counts twice", `buckets .* hold|want (exactly|at most)`, nil},
	{"counts in the bucket before", `buckets .* hold`, []string{"interpolated", "strict"}},
	{"loses a count on a turn", `buckets .* hold`, []string{"interpolated", "strict"}},
	{"loses a bucket on a turn", `buckets .* hold`, []string{"interpolated", "strict"}},
	{"late ticks decide alone", `buckets .* hold|outside|want at most`,
		[]string{"interpolated", "strict"}},
	{"index wraps soon", `hold|counts|want exactly|want at most`, nil},
	{"charges what it denies", `buckets .* hold|want at most`, nil},
	{"counts a peek", `buckets .* hold|want at most`, nil},
	{"admits what can never pass", `admits a cost of`, nil},
	{"ignores refunds", `buckets .* hold`, nil},
	{"takes back twice", `buckets .* hold`, nil},
	{"takes back from the newest", `buckets .* hold`, []string{"interpolated", "strict"}},
	{"reads too much", `counts \d+ when bucket`, nil},
	{"reads the oldest as the rest", `reads`, []string{"interpolated", "strict"}},
	{"estimates nothing", `reads`, nil},
	{"names another limit", `another limit`, nil},
	{"leaves more than the limit", `leaves more`, nil},
	{"makes an admitted event wait", `makes an admitted`, nil},
	{"gives a denied event no wait", `no wait`, nil},
	{"never lets pass", `never lets pass`, nil},
	{"was counted before it came", `outside`, nil},
	{"was counted ahead of time", `outside`, nil},
}

// plainPart builds a load on a plain window.
func plainPart(s shape, fault string) func(*builder) error {
	return func(b *builder) error {
		b.add(newWindowLoad(b.desk("plain"), s, 700, noMemory, newPlainWindow(s, fault)))
		return nil
	}
}

// Goal: each assertion on windows can fail, and none fails for a window that is right. Method: a
// plain window, without a fault and with each, in a run of its own.
func TestFaultsOfWindowsAreSeen(t *testing.T) {
	for name, s := range plainShapes {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, soakOf(t, plainPart(s, "none")).survive(rightRounds))
			for _, row := range windowFaults {
				if row.shapes != nil && !slices.Contains(row.shapes, name) {
					continue
				}
				err := soakOf(t, plainPart(s, row.fault)).survive(faultRounds)
				if assert.Error(t, err, "a window that %s", row.fault) {
					assert.Regexp(t, `^plain: .*`+row.says, err.Error(), row.fault)
					assert.NotContains(t, err.Error(), "\n")
				}
			}
		})
	}
}

// forgetfulLog is a log that admits some events and does not count them.
type forgetfulLog struct {
	*slidinglog.Log
}

func (l forgetfulLog) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	d := l.Log.Take(now, cost, limit)
	if d.Allowed {
		l.Log.Refund(d.At, 1)
	}
	return d
}

// Goal: the account serves logs too, whose buckets are made up. Method: a log that is right, and
// one that forgets what Take admits.
func TestFaultsOfLogsAreSeen(t *testing.T) {
	part := func(forgets bool) func(*builder) error {
		return func(b *builder) error {
			log, err := slidinglog.New(2 * time.Second)
			var of window = log
			if forgets {
				of = forgetfulLog{Log: log}
			}
			b.add(newWindowLoad(
				b.desk("log"), logOf(int64(2*time.Second), 5), 700, noMemory, of))
			return err
		}
	}
	require.NoError(t, soakOf(t, part(false)).survive(rightRounds))
	require.Regexp(t, `^log: window 0 buckets .* hold`, soakOf(t, part(true)).survive(faultRounds))
}
