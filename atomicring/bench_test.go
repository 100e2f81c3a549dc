package atomicring_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// BenchmarkFloor is what one decision cannot beat: a load and a compare-and-swap on the same kind
// of line.
func BenchmarkFloor(b *testing.B) {
	word := &tallyring.Words(tallyring.NewLines(2))[0]
	for b.Loop() {
		bareCAS(word)
	}
}

//go:noinline
func bareCAS(word *atomic.Uint64) bool {
	old := word.Load()
	return word.CompareAndSwap(old, old+1)
}

var windows = []struct {
	name   string
	window tallyring.Window
}{
	{"slots=1", tallyring.Window{Slots: 1, Width: time.Minute}},
	{"slots=2", tallyring.Window{Slots: 2, Width: time.Minute}},
	{"slots=2/strict", tallyring.Window{Slots: 2, Width: time.Minute, Strict: true}},
	{"slots=2/tagged", tallyring.Window{Slots: 2, Width: time.Microsecond}},
	{"slots=7", tallyring.Window{Slots: 7, Width: 10 * time.Second}},
	{"slots=61", tallyring.Window{Slots: 61, Width: time.Second}},
}

// BenchmarkAllow decides at a tick that is given. Allowed events are counted under a limit that is
// never reached: the bucket turns before its count saturates.
func BenchmarkAllow(b *testing.B) {
	for _, c := range windows {
		b.Run("allowed/"+c.name, func(b *testing.B) {
			r, err := atomicring.New(c.window)
			if err != nil {
				b.Fatal(err)
			}
			limit := r.MaxLimit()
			step := max(tallyring.Tick(c.window.Length())/tallyring.Tick(limit/4), 1)
			now, denied := tallyring.Tick(0), 0
			for b.Loop() {
				now += step
				if !r.Allow(now, 1, limit) {
					denied++
				}
			}
			if denied > 0 {
				b.Fatalf("%d events denied, want none", denied)
			}
		})
		b.Run("denied/"+c.name, func(b *testing.B) {
			r, err := atomicring.New(c.window)
			if err != nil {
				b.Fatal(err)
			}
			r.Allow(1, 100, 100)
			allowed := 0
			for b.Loop() {
				if r.Allow(1, 1, 100) {
					allowed++
				}
			}
			if allowed > 0 {
				b.Fatalf("%d events allowed, want none", allowed)
			}
		})
		b.Run("flooded/"+c.name, func(b *testing.B) { benchmarkFlooded(b, c.window) })
	}
}

// benchmarkFlooded decides on ten times as many events as the limit admits: most are denied
// and, where the oldest bucket is weighed, by what is left of that.
func benchmarkFlooded(b *testing.B, w tallyring.Window) {
	r, err := atomicring.New(w)
	if err != nil {
		b.Fatal(err)
	}
	limit := min(1000, uint64(w.Length())/20)
	step := tallyring.Tick(w.Length()) / tallyring.Tick(10*limit)
	now, allowed := tallyring.Tick(0), uint64(0)
	for b.Loop() {
		now += step
		if r.Allow(now, 1, limit) {
			allowed++
		}
	}
	if windows := uint64(now)/uint64(w.Length()) + 1; allowed > 2*windows*limit {
		b.Fatalf("%d events allowed in %d windows of %d", allowed, windows, limit)
	}
}
