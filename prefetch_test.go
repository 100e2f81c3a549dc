package tallyring

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Goal: prefetching is advice: it changes no line and faults at no index, and an empty batch or no
// lines at all are fine. What it gains is for the benchmarks of the packages that use it.
func TestPrefetchLinesChangesNothing(t *testing.T) {
	lines := NewLines(64)
	words := Words(lines)
	for i := range words {
		words[i].Store(uint64(i) + 1)
	}
	indexes := []uint64{0, 63, 31, 31, 64, 1 << 40, math.MaxUint64, math.MaxUint64 / LineBytes}
	for i := range uint64(100) {
		indexes = append(indexes, i)
	}
	for n := range len(indexes) + 1 {
		PrefetchLines(lines, indexes[:n])
	}
	PrefetchLines(lines, nil)
	PrefetchLines(nil, indexes)
	PrefetchLines(nil, nil)
	for i := range words {
		require.Equal(t, uint64(i)+1, words[i].Load())
	}
}
