package pertcore

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// The benchmarks stand beside each other in one run: with -cpu 1,2,4 the floor and the limiter keep
// their cost per event or lower it, and the plain ring raises it.

// BenchmarkFloor is a load and a compare-and-swap on a line that nobody else writes.
func BenchmarkFloor(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		own := new([32]atomic.Uint64)
		word := &own[16]
		for pb.Next() {
			old := word.Load()
			word.CompareAndSwap(old, old+1)
		}
	})
}

// BenchmarkLimiter decides far from the limit (whole shares), nearer to it (weighted shares), at it
// (denied), and under a limit so small that each event is decided in exact mode.
func BenchmarkLimiter(b *testing.B) {
	for _, slots := range []int{1, 2, 7} {
		name := "slots=" + string(rune('0'+slots))
		w := tallyring.Window{Slots: slots, Width: time.Minute}
		b.Run("far/"+name, func(b *testing.B) {
			l, _ := NewLimiter(w, 1<<32)
			allowAll(b, l)
		})
		b.Run("denied/"+name, func(b *testing.B) {
			l, _ := NewLimiter(w, 1)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					l.Allow(10, 1)
				}
			})
		})
	}
	b.Run("weighted/slots=2", func(b *testing.B) {
		l, _ := NewLimiter(tallyring.Window{Slots: 2, Width: time.Minute}, 1<<32)
		l.Allow(10, 1<<32-1)
		for !l.Allow(90e9, 1) {
			b.Fatal("half of the oldest bucket has left the window")
		}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				l.Allow(90e9, 1)
			}
		})
	})
	b.Run("exact/slots=2", func(b *testing.B) {
		l, _ := NewLimiter(tallyring.Window{Slots: 2, Width: time.Minute}, 1<<32)
		l.room = 1 << 62
		allowAll(b, l)
	})
}

// allowAll admits an event per iteration, and fails if one is denied.
func allowAll(b *testing.B, l *Limiter) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !l.Allow(10, 1) {
				b.Error("denied")
				return
			}
		}
	})
}

// BenchmarkRing is the same on one ring that all processors write.
func BenchmarkRing(b *testing.B) {
	for _, slots := range []int{1, 2, 7} {
		b.Run("slots="+string(rune('0'+slots)), func(b *testing.B) {
			r, _ := atomicring.NewFor(tallyring.Window{Slots: slots, Width: time.Minute}, 1<<32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r.Allow(10, 1, 1<<32)
				}
			})
		})
	}
}

// BenchmarkCounter adds to a counter; BenchmarkCounterRing to one ring.
func BenchmarkCounter(b *testing.B) {
	c, _ := NewCounter(tallyring.Window{Slots: 7, Width: time.Minute})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Add(10, 1)
		}
	})
}

func BenchmarkCounterRing(b *testing.B) {
	r, _ := atomicring.New(tallyring.Window{Slots: 7, Width: time.Minute})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.Add(10, 1)
		}
	})
}
