package slidinglog

import (
	"fmt"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
)

// BenchmarkAllow measures one decision on a log in its steady state: where one event leaves as one
// comes, and where the log is full.
func BenchmarkAllow(b *testing.B) {
	for _, limit := range []uint64{10, 100, 1000} {
		b.Run(fmt.Sprintf("allowed/limit=%d", limit), func(b *testing.B) {
			log := mustLog(b, time.Duration(limit))
			now := tallyring.Tick(0)
			for b.Loop() {
				now++
				if !log.Allow(now, 1, limit) {
					b.Fatal("denied")
				}
			}
		})
		b.Run(fmt.Sprintf("denied/limit=%d", limit), func(b *testing.B) {
			log := fullLog(b, limit)
			for b.Loop() {
				if log.Allow(tallyring.Tick(limit), 1, limit) {
					b.Fatal("allowed")
				}
			}
		})
		b.Run(fmt.Sprintf("take-denied/limit=%d", limit), func(b *testing.B) {
			log := fullLog(b, limit)
			for b.Loop() {
				if log.Take(tallyring.Tick(limit), 5, limit).Allowed {
					b.Fatal("allowed")
				}
			}
		})
	}
}

func fullLog(b *testing.B, limit uint64) *Log {
	log := mustLog(b, time.Hour)
	for i := range limit {
		log.Allow(tallyring.Tick(i), 1, limit)
	}
	return log
}

// BenchmarkAllowDeniedParallel measures a full log under attack from all processors.
func BenchmarkAllowDeniedParallel(b *testing.B) {
	log := fullLog(b, 100)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if log.Allow(100, 1, 100) {
				b.Error("allowed")
			}
		}
	})
}

// BenchmarkKeyed measures a decision on one of many keys: one that is known, and one that is new
// where each takes the place of one that expired.
func BenchmarkKeyed(b *testing.B) {
	const keys = 100_000
	b.Run("known", func(b *testing.B) {
		keyed := mustKeyed(b, 10*keys, keys)
		now := tallyring.Tick(0)
		for b.Loop() {
			now++
			if _, placed := keyed.Allow(uint64(now)%keys, now, 1, 100); !placed {
				b.Fatal("no place")
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		keyed := mustKeyed(b, keys/2, keys)
		now := tallyring.Tick(0)
		for b.Loop() {
			now++
			if _, placed := keyed.Allow(uint64(now), now, 1, 100); !placed {
				b.Fatal("no place")
			}
		}
	})
}
