package exphist

import (
	"fmt"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/slidinglog"
)

// A window in which benchCount events count, one a microsecond, once it is full.
const (
	benchCount = 10_000
	benchSpan  = benchCount * time.Microsecond
)

func fullHistogram(b *testing.B, eps float64, most uint64) (*Histogram, tallyring.Tick) {
	h := mustNew(b, benchSpan, eps, most)
	now := tallyring.Tick(0)
	for range 2 * benchCount {
		now += 1000
		h.Add(now, 1)
	}
	return h, now
}

func fullLog(b *testing.B) (*slidinglog.Log, tallyring.Tick) {
	log, err := slidinglog.New(benchSpan)
	if err != nil {
		b.Fatal(err)
	}
	now := tallyring.Tick(0)
	for range 2 * benchCount {
		now += 1000
		log.Add(now, 1)
	}
	return log, now
}

// BenchmarkAdd measures one event on a full window where one leaves as one comes, beside the exact
// log of the same events.
func BenchmarkAdd(b *testing.B) {
	b.Run("log", func(b *testing.B) {
		log, now := fullLog(b)
		for b.Loop() {
			now += 1000
			log.Add(now, 1)
		}
	})
	for _, eps := range allEps {
		b.Run(fmt.Sprintf("eps=%v", eps), func(b *testing.B) {
			h, now := fullHistogram(b, eps, 1_000_000)
			for b.Loop() {
				now += 1000
				h.Add(now, 1)
			}
		})
		b.Run(fmt.Sprintf("events/eps=%v", eps), func(b *testing.B) {
			e := mustEvents(b, benchCount, eps, benchCount)
			for b.Loop() {
				e.Add(1)
			}
		})
	}
}

// BenchmarkAddWeight measures a weight counted at once: one and a half kilobytes, and a gigabyte.
func BenchmarkAddWeight(b *testing.B) {
	for _, weight := range []uint64{1500, 1 << 30} {
		for _, eps := range allEps {
			b.Run(fmt.Sprintf("weight=%d/eps=%v", weight, eps), func(b *testing.B) {
				h, now := fullHistogram(b, eps, weight*2*benchCount)
				for b.Loop() {
					now += 1000
					h.Add(now, weight)
				}
			})
		}
	}
}

// BenchmarkRead measures a reading of a full window as time goes on for half of a window, which
// nothing was counted in, beside the log.
func BenchmarkRead(b *testing.B) {
	read := func(b *testing.B, from tallyring.Tick, read func(tallyring.Tick) tallyring.Reading) {
		now := from
		for b.Loop() {
			if now += 1000; now > from+tallyring.Tick(benchSpan)/2 {
				now = from
			}
			if read(now).High == 0 {
				b.Fatal("empty")
			}
		}
	}
	b.Run("log", func(b *testing.B) {
		log, now := fullLog(b)
		read(b, now, log.Read)
	})
	for _, eps := range allEps {
		b.Run(fmt.Sprintf("eps=%v", eps), func(b *testing.B) {
			h, now := fullHistogram(b, eps, 1_000_000)
			read(b, now, h.Read)
		})
	}
}

// BenchmarkAllow measures decisions on a full window: those that pass as as much leaves, and those
// that are denied, beside the log.
func BenchmarkAllow(b *testing.B) {
	b.Run("passed/log", func(b *testing.B) {
		log, now := fullLog(b)
		for b.Loop() {
			if now += 1000; !log.Allow(now, 1, 2*benchCount) {
				b.Fatal("denied")
			}
		}
	})
	b.Run("denied/log", func(b *testing.B) {
		log, now := fullLog(b)
		for b.Loop() {
			if log.Allow(now, 1, benchCount) {
				b.Fatal("allowed")
			}
		}
	})
	b.Run("take-denied/log", func(b *testing.B) {
		log, now := fullLog(b)
		for b.Loop() {
			if log.Take(now, 1, benchCount).Allowed {
				b.Fatal("allowed")
			}
		}
	})
	for _, eps := range allEps {
		b.Run(fmt.Sprintf("passed/eps=%v", eps), func(b *testing.B) {
			h, now := fullHistogram(b, eps, 1_000_000)
			for b.Loop() {
				if now += 1000; !h.Allow(now, 1, 3*benchCount) {
					b.Fatal("denied")
				}
			}
		})
		b.Run(fmt.Sprintf("denied/eps=%v", eps), func(b *testing.B) {
			h, now := fullHistogram(b, eps, 1_000_000)
			for b.Loop() {
				if h.Allow(now, 1, benchCount) {
					b.Fatal("allowed")
				}
			}
		})
		b.Run(fmt.Sprintf("take-denied/eps=%v", eps), func(b *testing.B) {
			h, now := fullHistogram(b, eps, 1_000_000)
			for b.Loop() {
				if h.Take(now, 1, benchCount).Allowed {
					b.Fatal("allowed")
				}
			}
		})
	}
}
