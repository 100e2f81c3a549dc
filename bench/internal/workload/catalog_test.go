package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// Goal: every workload can be measured, all answers are right, and the engine and its floor stand
// in each. Method: the whole catalog at a small size, by a Runner with the shortest spans.
func TestEveryWorkloadRuns(t *testing.T) {
	size := Size{Keys: 2000, Hashes: 3000, Held: 500, Cells: 400, FloodRounds: 2,
		FloodEvents: 50}
	r := &Runner{Rounds: 2, Span: 20 * time.Microsecond, Clock: tallyring.Monotonic()}
	for _, source := range Catalog(size) {
		t.Run(source.Bench, func(t *testing.T) {
			w, err := source.Make()
			requireTrace(t, err)
			assert.Equal(t, source.Bench, w.Bench)
			assert.NotEmpty(t, w.Title)
			assert.NotEmpty(t, w.About)
			m, err := r.Run(w)
			require.NoError(t, err)
			kinds := map[contender.Kind]int{}
			names := map[string]bool{}
			for _, result := range m.Results {
				kinds[result.Kind]++
				assert.Positive(t, Median(result.Nanos), result.Name)
				if w.Floor != "" {
					assert.Positive(t, Median(result.Ratios), result.Name)
				}
				names[result.Name] = true
			}
			if w.Bench != "Floor" {
				assert.Positive(t, kinds[contender.Engine])
			}
			if w.Floor != "" {
				assert.True(t, names[w.Floor], "its floor %s is measured", w.Floor)
			}
		})
	}
}

// Goal: processors are counted up to all of them.
func TestProcessorsDouble(t *testing.T) {
	counts := processors()
	assert.IsIncreasing(t, append([]int{0}, counts...))
	assert.Equal(t, 1, counts[0])
}
