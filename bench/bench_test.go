package main

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/floor"
)

// step is the time between two events of one key that are all allowed: a quarter of what Plenty
// admits.
const step = tallyring.Tick(contender.Span) / tallyring.Tick(contender.Plenty/4)

type singleMaker func(limit contender.Limit) (contender.Single, error)

func ringOf(slots int) singleMaker {
	return func(limit contender.Limit) (contender.Single, error) {
		return contender.NewRing(slots, limit)
	}
}

// BenchmarkOneKey decides on one limit at ticks that are given.
func BenchmarkOneKey(b *testing.B) {
	for _, c := range []struct {
		workload, impl string
		limit          contender.Limit
		build          singleMaker
	}{
		{"allowed", "tallyring", contender.Plenty, ringOf(2)},
		{"allowed", "x-time-rate", contender.Plenty, contender.NewXTime},
		{"denied", "tallyring", contender.Few, ringOf(2)},
		{"denied", "x-time-rate", contender.Few, contender.NewXTime},
		{"seven", "tallyring", contender.Plenty, ringOf(7)},
		{"seven", "x-time-rate", contender.Plenty, contender.NewXTime},
	} {
		b.Run("workload="+c.workload+"/impl="+c.impl, func(b *testing.B) {
			single, err := c.build(c.limit)
			require.NoError(b, err)
			events := contender.Events{From: contender.Start, Step: step, Count: b.N}
			want := b.N
			if c.limit == contender.Few {
				fill := contender.Events{From: contender.Start, Count: int(contender.Few)}
				require.Equal(b, fill.Count, single.Decide(fill))
				events.Step, want = 0, 0
			}
			b.ReportAllocs()
			b.ResetTimer()
			require.Equal(b, want, single.Decide(events))
		})
	}
	b.Run("workload=allowed/impl=floor-cas", func(b *testing.B) {
		word := floor.NewWord()
		require.Equal(b, b.N, word.CAS(b.N))
	})
}

// BenchmarkKeys decides on keys given as text, in an order that no prefetcher guesses.
func BenchmarkKeys(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = "client-" + strconv.Itoa(i*7919%n)
		}
		for name, build := range map[string]func(int, contender.Limit) (contender.Keyed, error){
			"tallyring": contender.NewTexts, "x-time-rate": contender.NewXTimes,
		} {
			b.Run("keys="+strconv.Itoa(n)+"/impl="+name, func(b *testing.B) {
				keyed, err := build(n, contender.Plenty)
				require.NoError(b, err)
				now := contender.Start
				require.Equal(b, n, keyed.Decide(keys, now))
				b.ReportAllocs()
				b.ResetTimer()
				for left := b.N; left > 0; left -= n {
					now += tallyring.Tick(contender.Span) / 1024
					some := keys[:min(n, left)]
					require.Equal(b, len(some), keyed.Decide(some, now))
				}
			})
		}
	}
}
