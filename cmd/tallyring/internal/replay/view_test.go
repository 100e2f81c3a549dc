package replay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: each limit's effect is what a replay at that limit finds, and the bins hold every request
// where it belongs. Method: random logs, against Run at every limit of the grid, and sums.
func TestLookAgreesWithRun(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 9))
		e := randomEvents(t, r, 400, 10*time.Second)
		plan := Plan{Limit: 1 + r.Uint64N(9), Window: 10 * time.Second}
		plan.Resolutions = []Resolution{1}
		v, err := Look(e, plan, nil)
		require.NoError(t, err)
		own := false
		for _, at := range v.Limits {
			p := plan
			p.Limit = at.Limit
			want, err := Run(e, p, 0, nil)
			require.NoError(t, err)
			require.Equal(t, want.Outcomes[0].Denied, at.Denied, "seed %d at %d", seed, at.Limit)
			require.Equal(t, want.KeysDenied, at.Keys, "seed %d at %d", seed, at.Limit)
			own = own || at.Limit == plan.Limit
		}
		require.True(t, own)
		last := v.Limits[len(v.Limits)-1]
		require.Zero(t, last.Denied, "the grid ends where nothing is denied")
		admitted, denied := 0, 0
		for n, b := range v.Bins {
			admitted, denied = admitted+b.Admitted, denied+b.Denied
			start := v.Bins[0].Start + tallyring.Tick(n)*tallyring.Tick(v.BinWidth)
			require.Equal(t, start, b.Start)
			in := 0
			for i := range e.list {
				if at := e.list[i].tick; at >= start && at < start+tallyring.Tick(v.BinWidth) {
					in++
				}
			}
			require.Equal(t, in, b.Admitted+b.Denied)
		}
		require.Equal(t, e.Len(), admitted+denied)
		result, err := Run(e, plan, 0, nil)
		require.NoError(t, err)
		require.Equal(t, result.Outcomes[0].Denied, denied)
		require.LessOrEqual(t, len(v.Bins), mostBins+1)
	}
}

// Goal: the grid is ascending, round but for the own limit, and reaches the peak. Method: limits
// and peaks of many sizes.
func TestLimitGrid(t *testing.T) {
	assert.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25}, limitGrid(10, 21))
	assert.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 7, 8}, limitGrid(7, 3))
	assert.Equal(t, []uint64{1}, limitGrid(1, 1))
	for _, own := range []uint64{1, 9, 11, 99, 12_345, 1 << 40, 1<<64 - 2} {
		for _, peak := range []uint64{1, 2, 77, 1 << 20} {
			grid := limitGrid(own, peak)
			require.True(t, slices.IsSorted(grid))
			require.Equal(t, len(grid), len(slices.Compact(slices.Clone(grid))))
			require.Contains(t, grid, own)
			require.GreaterOrEqual(t, grid[len(grid)-1], max(own, peak))
			require.Less(t, len(grid), 250)
		}
	}
}

// Goal: bins are of a width that people think in, and there are at most as many as a phone can
// show. Method: spans from nothing to centuries.
func TestBinWidth(t *testing.T) {
	for span, want := range map[time.Duration]time.Duration{
		0: 1, 95 * time.Second: 2 * time.Second, 12 * time.Hour: 10 * time.Minute,
		24 * time.Hour: 30 * time.Minute, 30 * 24 * time.Hour: 12 * time.Hour,
		90 * time.Second: time.Second, 10 * time.Millisecond: 200 * time.Microsecond,
		200 * 365 * 24 * time.Hour: 769 * 24 * time.Hour,
	} {
		got := binWidth(span)
		assert.Equal(t, want, got, span)
		assert.LessOrEqual(t, int64(span/got), int64(mostBins), span)
	}
}
