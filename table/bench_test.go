package table_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// BenchmarkAllow decides on keys in random order at a tick that is given, all of them in the table.
// The sub-benchmark floor swaps one word on a random line of a table's size.
func BenchmarkAllow(b *testing.B) {
	for _, keys := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("impl=floor/keys=%d", keys), func(b *testing.B) {
			words := tallyring.Words(tallyring.NewLines(keys / 3))
			random := rand.New(rand.NewPCG(1, 2))
			order := make([]uint32, 1<<16)
			for i := range order {
				order[i] = uint32(random.IntN(keys/3) * tallyring.LineWords)
			}
			i := 0
			for b.Loop() {
				word := &words[order[i&(len(order)-1)]]
				old := word.Load()
				word.CompareAndSwap(old, old+1)
				i++
			}
		})
		for _, slots := range []int{2, 7} {
			b.Run(fmt.Sprintf("impl=table/slots=%d/keys=%d", slots, keys), func(b *testing.B) {
				benchmarkAllow(b, slots, keys)
			})
		}
	}
}

func benchmarkAllow(b *testing.B, slots, keys int) {
	width := time.Minute / time.Duration(max(slots-1, 1))
	t, err := table.New(table.Config{
		Window: tallyring.Window{Slots: slots, Width: width}, Keys: keys,
	})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, keys)
	for i := range hashes {
		hashes[i] = random.Uint64()
		t.Allow(hashes[i], 0, 1, t.MaxLimit())
	}
	order := make([]uint32, 1<<20)
	for i := range order {
		order[i] = uint32(random.IntN(keys))
	}
	i, denied := 0, 0
	for b.Loop() {
		key := hashes[order[i&(len(order)-1)]]
		if !t.Allow(key, tallyring.Tick(i), 1, t.MaxLimit()) {
			denied++
		}
		i++
	}
	if denied > 0 {
		b.Fatalf("%d events denied, want none", denied)
	}
	b.ReportMetric(float64(t.Bytes())/float64(keys), "B/key")
}

// BenchmarkFlooded decides on ten times as many events of each key as the limit admits: most are
// denied, by what is left of the oldest bucket.
func BenchmarkFlooded(b *testing.B) {
	for _, slots := range []int{2, 7} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			const keys, limit = 64, 1000
			length := time.Second
			t, err := table.New(table.Config{
				Window: tallyring.Window{Slots: slots, Width: length / time.Duration(slots-1)},
				Keys:   keys, MaxLimit: limit,
			})
			if err != nil {
				b.Fatal(err)
			}
			step := tallyring.Tick(length) / (10 * limit * keys)
			now, allowed, key := tallyring.Tick(0), uint64(0), uint64(0)
			for b.Loop() {
				now += step
				if key++; t.Allow(key%keys, now, 1, limit) {
					allowed++
				}
			}
			if most := 2 * keys * limit * (uint64(now)/uint64(length) + 1); allowed > most {
				b.Fatalf("%d events allowed, want at most %d", allowed, most)
			}
		})
	}
}
