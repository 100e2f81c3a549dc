package limiter_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// worstTrailing returns the most ticks in any interval (t-length, t]. The ticks are in order.
func worstTrailing(ticks []tallyring.Tick, length tallyring.Tick) int {
	worst, first := 0, 0
	for i, now := range ticks {
		for ticks[first] <= now-length {
			first++
		}
		worst = max(worst, i-first+1)
	}
	return worst
}

// requireTrailing looks at every trailing window of what several goroutines were admitted at:
// strict windows and the log stay within the limit, the others within twice that. The limit must
// have been reached, and no bucket of a fixed window may hold more.
func requireTrailing(
	t *testing.T, k kind, limit int, ticks [][]tallyring.Tick, end tallyring.Tick,
) {
	t.Helper()
	all := slices.Concat(ticks...)
	slices.Sort(all)
	require.Greater(t, end-start, tallyring.Tick(4*window), "too few buckets were crossed")
	worst := worstTrailing(all, tallyring.Tick(window))
	bound := 2 * limit
	if k.strict || k.slots == 0 {
		bound = limit
	}
	require.LessOrEqual(t, worst, bound)
	require.GreaterOrEqual(t, worst, limit, "the limit was never reached")
	if k.slots == 1 {
		buckets := map[tallyring.Tick]int{}
		for _, at := range all {
			buckets[at/tallyring.Tick(k.width)]++
		}
		for bucket, n := range buckets {
			require.LessOrEqual(t, n, limit, "bucket %d", bucket)
		}
	}
}
