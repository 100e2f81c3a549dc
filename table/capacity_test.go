package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// keyMakers make the i-th of many distinct keys, as callers do who hash, who count, or who hash
// badly.
var keyMakers = []struct {
	name string
	key  func(i uint64) uint64
}{
	{"hashes", func(i uint64) uint64 {
		i ^= i >> 30 // splitmix64, a bijection
		i *= 0xbf58476d1ce4e5b9
		i ^= i >> 27
		i *= 0x94d049bb133111eb
		return i ^ i>>31
	}},
	{"sequence", func(i uint64) uint64 { return i }},
	{"multiples", func(i uint64) uint64 { return i << 32 }},
	{"downward", func(i uint64) uint64 { return math.MaxUint64 - i }},
}

// sizes lists how many keys a capacity test asks for.
func sizes(t *testing.T, million bool) []int {
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 63, 64, 1000, 10_000}
	if million && scaled(10) == 10 {
		sizes = append(sizes, 1_000_000)
	} else {
		t.Log("a million keys: skipped here")
	}
	return sizes
}

// Goal: as many live keys as were asked for always fit, whatever the keys look like, and each
// counts for itself. Method: insert them all, each with its own count, and read them all.
func TestKeysAskedForFit(t *testing.T) {
	w2 := tallyring.Window{Slots: 2, Width: time.Minute}
	w7 := tallyring.Window{Slots: 7, Width: time.Second}
	for _, w := range []tallyring.Window{w2, w7} {
		for _, keys := range sizes(t, true) {
			for m, maker := range keyMakers {
				if w.Slots > 2 && keys > 10_000 && m > 0 {
					continue // 100 MB each
				}
				t.Run(fmt.Sprintf("%d/%d/%s", w.Slots, keys, maker.name), func(t *testing.T) {
					table := newTable(t, w, keys)
					for i := range uint64(keys) {
						if !table.Allow(maker.key(i), 5, 1+i%7, 100) {
							t.Fatalf("key %d of %d found no cell", i, keys)
						}
					}
					for i := range uint64(keys) {
						if got := table.Read(maker.key(i), 5).High; got != 1+i%7 {
							t.Fatalf("key %d of %d counts %d, want %d", i, keys, got, 1+i%7)
						}
					}
					stats := table.Stats(5)
					require.Equal(t, uint64(keys), stats.Live)
					require.Zero(t, stats.Refused)
					require.Less(t, stats.Farthest, table.bound)
				})
			}
		}
	}
}

// Goal: keys asked for fit for ever, not only in a new table: cells that expire in any order leave
// room. Method: through many windows, keep as many keys live as were asked for, replacing a random
// part of them by new ones whenever the old ones have expired.
func TestKeysAskedForFitThroughManyGenerations(t *testing.T) {
	for _, f := range []form{
		{"packed", tallyring.Window{Slots: 2, Width: time.Minute}},
		{"tagged", tallyring.Window{Slots: 7, Width: time.Second}},
	} {
		t.Run(f.name, func(t *testing.T) {
			const keys, cohorts = 12_000, 6
			table := newTable(t, f.window, keys)
			random := rand.New(rand.NewPCG(23, 24))
			width := tallyring.Tick(f.window.Width)
			// A cohort lives until it is left alone for a whole ring; one is left alone at a time.
			live := make([][]uint64, cohorts)
			for turn := range tallyring.Tick(scaled(150)) {
				leaving := int(turn) % cohorts
				now := turn * ring(f.window)
				for c := range live {
					if c == leaving {
						live[c] = live[c][:0]
						for range keys / cohorts {
							live[c] = append(live[c], random.Uint64())
						}
					}
				}
				for bucket := range tallyring.Tick(f.window.Slots) {
					for c := range live {
						// The cohort that comes next goes quiet with this turn's first bucket.
						if bucket > 0 && c == (leaving+1)%cohorts {
							continue
						}
						for _, key := range live[c] {
							if !table.Allow(key, now+bucket*width, 1, tallyring.Unlimited) {
								t.Fatalf("turn %d: a key found no cell", turn)
							}
						}
					}
				}
			}
			stats := table.Stats(0)
			require.Zero(t, stats.Refused)
			assert.Greater(t, stats.TakenOver, uint64(keys)/2, "cells were taken over")
		})
	}
}

// Goal: memory per key is what the design promises. Method: tables of a million keys, before use.
func TestBytesPerKey(t *testing.T) {
	const keys = 1_000_000
	packed := newTable(t, tallyring.Window{Slots: 2, Width: time.Minute}, keys)
	assert.LessOrEqual(t, float64(packed.Bytes())/keys, 24.0)
	assert.Equal(t, packed.Bytes(), packed.Stats(0).Bytes)
	tagged := newTable(t, tallyring.Window{Slots: 7, Width: time.Second}, keys)
	assert.LessOrEqual(t, float64(tagged.Bytes())/keys, 65/taggedLoad+1)
	t.Logf("packed %.2f, tagged %.2f bytes per key", float64(packed.Bytes())/keys,
		float64(tagged.Bytes())/keys)
	runtime.KeepAlive(packed)
}

// Goal: Bytes says what the table has really taken. Method: the runtime's count of allocated bytes.
func TestBytesAreWhatWasAllocated(t *testing.T) {
	for _, policy := range []Policy{Deny, Overflow} {
		for _, slots := range []int{1, 2, 3, 7, 8, 61} {
			for _, keys := range []int{100_000, 300_000} {
				var before, after runtime.MemStats
				config := Config{
					Window: tallyring.Window{Slots: slots, Width: time.Minute}, Keys: keys,
					WhenFull: policy,
				}
				if slots > 8 && keys > 100_000 {
					continue // nothing new, and much memory
				}
				runtime.GC()
				runtime.ReadMemStats(&before)
				table, err := New(config)
				runtime.ReadMemStats(&after)
				require.NoError(t, err)
				allocated := float64(after.TotalAlloc - before.TotalAlloc)
				require.InEpsilon(t, allocated, float64(table.Bytes()), 0.02,
					"%d slots, %d keys", slots, keys)
			}
		}
	}
}

// Goal: no verb allocates, whatever becomes of it.
func TestNoVerbAllocates(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		full, _ := fill(t, w, Overflow, 5)
		table := newTable(t, w, 20_000)
		table.Allow(1, 5, 1, 10)
		next, now := uint64(1000), tallyring.Tick(5)
		small := newTable(t, w, 1)
		verbs := map[string]func(){
			"hit":     func() { table.Allow(1, 5, 1, tallyring.Unlimited) },
			"denial":  func() { table.Allow(1, 5, 1, 1) },
			"missing": func() { table.Allow(2, 5, 0, 1); table.Read(2, 5); table.Refund(2, 5, 1) },
			"take":    func() { table.Refund(1, table.Take(1, 5, 1, 100).At, 1) },
			"denied":  func() { table.Take(1, 5, 1, 1) },
			"read":    func() { table.Read(1, 5) },
			"insert":  func() { next++; table.Allow(next, 5, 1, 10) },
			"rotate":  func() { now += tallyring.Tick(w.Width); table.Allow(1, now, 1, 10) },
			"takeover": func() {
				now += ring(w)
				next++
				small.Allow(next, now, 1, 10)
			},
			"full":  func() { full.Allow(1<<40, 5, 1, 10); full.Take(1<<40, 5, 1, 10) },
			"stats": func() { small.Stats(now) },
		}
		for name, verb := range verbs {
			require.Zero(t, testing.AllocsPerRun(100, verb), name)
		}
		require.Positive(t, small.Stats(now).TakenOver)
		require.Positive(t, full.Stats(5).Refused)
	})
}

// Goal: denials, peeks, readings and what misses write nothing (S3, S4): an attacked line stays
// shared. Method: compare every word of the table before and after.
func TestDenialsAndReadingsWriteNothing(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table := newTable(t, w, 10)
		now := 100*ring(w) + 5
		require.True(t, table.Allow(1, now, 3, 3))
		require.True(t, table.Allow(2, now, 1, 3))
		before := table.memory()
		width := tallyring.Tick(w.Width)
		for _, tick := range []tallyring.Tick{0, now - width, now, now + width - 6} {
			require.False(t, table.Allow(1, tick, 1, 3))
			require.False(t, table.Take(1, tick, 1, 3).Allowed)
			require.False(t, table.Allow(2, tick, 3, 3))
		}
		if w.Slots > 1 { // the next bucket, in which the denial must not rotate
			require.False(t, table.Allow(1, now+width-5, 1, 3))
			require.False(t, table.Take(1, now+width-5, 1, 3).Allowed)
		}
		for _, ahead := range []tallyring.Tick{-now, 0, width, ring(w), 10 * ring(w)} {
			tick := now + ahead
			for key := range uint64(5) {
				require.False(t, table.Allow(key, tick, 1, 0))
				require.False(t, table.Allow(key, tick, 9, 8))
				require.False(t, table.Take(key, tick, 9, 8).Allowed)
				table.Allow(key, tick, 0, 8)
				table.Take(key, tick, 0, 8)
				table.Read(key, tick)
				table.Stats(tick)
				table.Refund(key, tick+ring(w), 1) // a bucket never counted in
				table.Refund(key, now, 0)
			}
			table.Refund(77, now, 5)
		}
		require.Equal(t, before, table.memory())
		require.True(t, table.Allow(2, now, 1, 3))
		require.NotEqual(t, before, table.memory(), "the comparison sees a write")
	})
}

// Goal: the two reserved fingerprints are keys like any other, and no key's line and fingerprint
// share forced bits.
func TestReservedFingerprintsAreKeysLikeAnyOther(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table := newTable(t, w, 10)
		for key := range uint64(5) {
			require.True(t, table.Allow(key, 5, key+1, 9))
		}
		for key := range uint64(5) {
			require.Equal(t, key+1, table.Read(key, 5).High)
			require.True(t, table.Allow(key, 5, 8-key, 9))
			require.False(t, table.Allow(key, 5, 1, 9))
		}
		require.Equal(t, uint64(5), table.Stats(5).Live)
	})
	// Homes of both halves of a large table are used evenly.
	table := newTable(t, tallyring.Window{Slots: 2, Width: time.Minute}, 10_000)
	for _, maker := range keyMakers {
		used := map[uint64]int{}
		for i := range uint64(100_000) {
			_, home := table.home(maker.key(i))
			used[home]++
		}
		require.Greater(t, len(used), int(table.groups)*99/100, maker.name)
	}
}
