package pertcore

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// headerBytes is what a limiter, a counter or a ring in one takes beside its counts, at most.
const headerBytes = 512

// TestBytesAreWhatWasAllocated makes limiters and counters of few slots and of many, and compares
// what Bytes says, which is known when they are made, with the runtime's account.
func TestBytesAreWhatWasAllocated(t *testing.T) {
	for _, slots := range []int{1, 2, 61, 4000} {
		w := tallyring.Window{Slots: slots, Width: time.Second}
		for name, build := range map[string]func() (bytes, headers int, err error){
			"limiter": func() (int, int, error) {
				l, err := newLimiter(w, 1<<20, 1024)
				return l.Bytes(), 1, err
			},
			"counter": func() (int, int, error) {
				c, err := NewCounter(w)
				return c.Bytes(), 1 + c.Shards(), err
			},
		} {
			const times = 64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			said, slack := 0, 0
			for range times {
				bytes, headers, err := build()
				require.NoError(t, err)
				said, slack = said+bytes, slack+headers*headerBytes
			}
			runtime.ReadMemStats(&after)
			took := int(after.TotalAlloc - before.TotalAlloc)
			t.Logf("%s of %d slots: %d bytes, %d allocated", name, slots,
				said/times, took/times)
			require.LessOrEqual(t, said, took)
			require.Less(t, took-said, slack+said/20, "%s of %d slots", name, slots)
		}
	}
}
