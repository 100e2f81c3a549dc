package atomicring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// TestNothingAllocates runs every verb on rings of every form, admitted and denied, in a bucket
// and across turns, and counts allocations.
func TestNothingAllocates(t *testing.T) {
	for _, f := range forms {
		for _, slots := range []int{1, 2, 7, 61} {
			if !f.tagged && slots > 2 {
				continue
			}
			r := f.build(tallyring.Window{Slots: slots, Width: time.Second})
			now, admitted, denied := tallyring.Tick(0), 0, 0
			n := testing.AllocsPerRun(100, func() {
				now += tallyring.Tick(time.Second) / 3
				for _, limit := range []uint64{0, 3, 1000, tallyring.Unlimited} {
					d := r.Take(now, 1, limit)
					admitted += reached(d.Allowed)
					denied += reached(!r.Allow(now, 1, limit))
				}
				r.Add(now, 2)
				r.Add(now-tallyring.Tick(time.Second), 2)
				r.Refund(now, 1)
				if r.Estimate(now) > float64(r.Read(now).High) {
					denied = 0
				}
			})
			require.Zero(t, n, "form %s, slots %d", f.name, slots)
			require.Positive(t, min(admitted, denied), "form %s, slots %d", f.name, slots)
		}
	}
}
