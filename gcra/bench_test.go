package gcra_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/gcra"
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

var rates = []struct {
	name   string
	events uint64
	per    time.Duration
	burst  uint64
	step   tallyring.Tick
}{
	{"whole", 1000, time.Second, 1000, 1e6},    // a nanosecond is a unit
	{"fraction", 1013, time.Second, 1000, 1e6}, // and is not a whole number of units
	{"turning", 1000, time.Second, 1000, 2e9},  // each event comes in a later span
}

// BenchmarkAllow decides at a tick that is given: on a bucket that refills as fast as it is
// charged, and on one that is empty.
func BenchmarkAllow(b *testing.B) {
	for _, c := range rates {
		b.Run("allowed/"+c.name, func(b *testing.B) {
			bucket := full(b, c.events, c.per, c.burst)
			now, denied := tallyring.Tick(1e18), 0
			for b.Loop() {
				now += c.step
				if !bucket.Allow(now, 1) {
					denied++
				}
			}
			if denied > 0 {
				b.Fatalf("%d events denied, want none", denied)
			}
		})
	}
	b.Run("denied", func(b *testing.B) {
		bucket := full(b, 1000, time.Second, 1000)
		bucket.Add(1e18, 1001)
		allowed := 0
		for b.Loop() {
			if bucket.Allow(1e18, 1) {
				allowed++
			}
		}
		if allowed > 0 {
			b.Fatalf("%d events allowed, want none", allowed)
		}
	})
}

func full(b *testing.B, events uint64, per time.Duration, burst uint64) *gcra.Bucket {
	bucket, err := gcra.New(events, per, burst)
	if err != nil {
		b.Fatal(err)
	}
	return bucket
}

// BenchmarkTake is the whole answer, which divides.
func BenchmarkTake(b *testing.B) {
	bucket := full(b, 1000, time.Second, 1000)
	now, denied := tallyring.Tick(1e18), 0
	for b.Loop() {
		now += tallyring.Tick(time.Millisecond)
		if !bucket.Take(now, 1).Allowed {
			denied++
		}
	}
	if denied > 0 {
		b.Fatalf("%d events denied, want none", denied)
	}
}
