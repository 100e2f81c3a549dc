package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// processors lists the settings of GOMAXPROCS under which every storm runs.
var processors = []int{1, 2, 4, 16}

// eachProcessors runs a test under every setting.
func eachProcessors(t *testing.T, test func(t *testing.T)) {
	for _, n := range processors {
		t.Run(fmt.Sprintf("procs=%d", n), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			test(t)
		})
	}
}

// strictWindows are windows in which an event counts whole for as long as it counts, so that
// exactly the limit passes at any mixture of ticks that are less than a window apart.
func strictWindows() []form {
	return []form{
		{"packed2", tallyring.Window{Slots: 2, Width: time.Minute, Strict: true}},
		{"tagged2", tallyring.Window{Slots: 2, Width: time.Microsecond, Strict: true}},
		{"tagged3", tallyring.Window{Slots: 3, Width: time.Second, Strict: true}},
		{"tagged7", tallyring.Window{Slots: 7, Width: time.Second, Strict: true}},
	}
}

// A storm lets many goroutines ask about batches of fresh keys at once. Every batch finds cells
// that have just expired, all of them or only for those whose clock does not lag.
type storm struct {
	table  *Table
	window tallyring.Window
	lag    int64 // each goroutine's tick lies less than this behind
	limit  uint64
	now    int64
	next   uint64 // the next fresh key

	goroutines, batch int

	dead, leftPending, tickets int
	duplicates                 atomic.Int64
}

// watch looks for duplicates until done. A key of a storm is asked about in one batch only and
// keeps its cell through all of it, so two settled cells of it in one look are two at one time.
func (s *storm) watch(done *atomic.Bool) {
	for last := false; !last; {
		last = done.Load()
		s.duplicates.Add(int64(len(s.table.look().duplicates())))
		runtime.Gosched()
	}
}

// run asks about one batch of keys, every goroutine about each, and returns how many events of each
// key were admitted.
func (s *storm) run(random *rand.Rand) []int64 {
	s.now += int64(ring(s.window))
	admitted := make([]atomic.Int64, s.batch)
	keys := make([]uint64, s.batch)
	for i := range keys {
		s.next++
		keys[i] = s.next * 0xd1342543de82ef95
	}
	var start atomic.Int64
	var all sync.WaitGroup
	for range s.goroutines {
		seed := random.Uint64()
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			start.Add(1)
			for range 20 { // a short wait brings those together that run at one time
				if start.Load() >= int64(runtime.GOMAXPROCS(0)) {
					break
				}
			}
			for i, key := range keys {
				now := s.now
				if s.lag > 0 {
					now -= random.Int64N(s.lag)
				}
				if s.table.Allow(key, tallyring.Tick(now), 1, s.limit) {
					admitted[i].Add(1)
				}
			}
		})
	}
	all.Wait()
	counts := make([]int64, s.batch)
	for i := range counts {
		counts[i] = admitted[i].Load()
	}
	c := s.table.look()
	s.duplicates.Add(int64(len(c.duplicates())))
	s.dead, s.tickets = s.dead+c.dead, s.tickets+c.tickets
	for _, cells := range c.pending {
		s.leftPending += len(cells)
	}
	return counts
}

// runAll runs batches until rounds keys have been asked about, and checks each.
func (s *storm) runAll(t *testing.T, rounds int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(s.limit), uint64(s.lag)))
	s.now = int64(ring(s.window)) * 10
	var done atomic.Bool
	var watcher sync.WaitGroup
	watcher.Go(func() { s.watch(&done) })
	stop := func() {
		done.Store(true)
		watcher.Wait()
	}
	defer stop()
	for asked := 0; asked < rounds; asked += s.batch {
		for _, n := range s.run(random) {
			require.Equal(t, int64(s.limit), n, "events admitted of a fresh key")
		}
		require.Zero(t, s.duplicates.Load(), "keys with two settled cells")
	}
	stop()
	require.Zero(t, s.duplicates.Load(), "keys with two settled cells, seen during the storm")
	stats := s.table.Stats(tallyring.Tick(s.now))
	require.Zero(t, stats.Refused)
	assert.Greater(t, stats.TakenOver, uint64(rounds)/2, "cells taken over")
}

// Goal: of 50 goroutines that ask about a fresh key at once, exactly 25 pass, though every cell
// must be taken over from a key that has just expired. Method: over 10,000 fresh keys for each form
// and number of processors, and no two settled cells of a key, during the storm or after.
func TestExactlyTheLimitPassesOnAFreshKey(t *testing.T) {
	rounds := scaled(10_000)
	eachProcessors(t, func(t *testing.T) {
		for _, f := range forms()[:6] {
			t.Run(f.name, func(t *testing.T) {
				s := &storm{table: newTable(t, f.window, 20), window: f.window, limit: 25,
					goroutines: 50, batch: 20}
				s.runAll(t, rounds)
			})
		}
	})
}

// Goal: the same where every clock lags by its own part of the window. Then those who lag do not
// yet see expired what others take over, so they claim different cells for one key, and one claim
// must be killed. Method: as before, in strict windows. How many claims clash is the machine's
// choice, and is only logged; hesitant inserters make them clash.
func TestExactlyTheLimitPassesThoughClocksLag(t *testing.T) {
	rounds, dead, tickets, left := scaled(10_000), 0, 0, 0
	eachProcessors(t, func(t *testing.T) {
		for _, f := range strictWindows() {
			t.Run(f.name, func(t *testing.T) {
				s := &storm{table: newTable(t, f.window, 20), window: f.window, limit: 25,
					lag: int64(f.window.Length()), goroutines: 50, batch: 10}
				s.runAll(t, rounds)
				dead, tickets, left = dead+s.dead, tickets+s.tickets, left+s.leftPending
			})
		}
	})
	t.Logf("seen after batches: %d dead cells, %d claims with a ticket, %d pending cells left",
		dead, tickets, left)
}

// reinsertion counts what became of keys that come back expired.
type reinsertion struct{ inPlace, moved, fresh int }

// Goal: where a key hits its expired cell while another key takes it over, no event is lost and
// none is counted on the other's cell. Method: each round, three keys of a dozen come back to a
// table that holds three; most find their own cell expired, or the others take it. At rest every
// key counts exactly what was admitted, in one cell. Keys must have been seen to keep and to lose
// their cells.
func TestHitsAndTakeoversOfOneCellNeverMix(t *testing.T) {
	rounds := scaled(6_000)
	eachProcessors(t, func(t *testing.T) {
		for _, f := range forms()[:6] {
			t.Run(f.name, func(t *testing.T) {
				testHitsAndTakeovers(t, f.window, rounds)
			})
		}
	})
}

func testHitsAndTakeovers(t *testing.T, w tallyring.Window, rounds int) {
	const goroutines, events = 6, 4
	random := rand.New(rand.NewPCG(11, 12))
	table := newTable(t, w, 3)
	dozen := make([]uint64, 12)
	for i := range dozen {
		dozen[i] = random.Uint64()
	}
	var seen reinsertion
	now := tallyring.Tick(0)
	for range rounds {
		now += ring(w)
		random.Shuffle(len(dozen), func(i, j int) { dozen[i], dozen[j] = dozen[j], dozen[i] })
		keys := dozen[:3]
		before := make([]uint64, len(keys))
		held := make([]bool, len(keys))
		for i, key := range keys {
			before[i], held[i] = table.cellOf(key)
		}
		admitted := raceOn(table, keys, now, goroutines, events)
		for i, key := range keys {
			reading := table.Read(key, now)
			require.Equal(t, admitted[i], reading.High, "events counted of what was admitted")
			cell, ok := table.cellOf(key)
			require.True(t, ok, "the key's cell")
			switch {
			case !held[i]:
				seen.fresh++
			case cell == before[i]:
				seen.inPlace++
			default:
				seen.moved++
			}
		}
		require.Empty(t, table.look().duplicates())
	}
	assert.Positive(t, seen.inPlace, "no key came back to its own cell")
	assert.Positive(t, seen.moved, "no key lost its cell to another while it came back")
	assert.Positive(t, seen.fresh)
	require.Zero(t, table.Stats(now).Refused)
}

// raceOn lets goroutines count on keys at once, each in its own order, and returns how many events
// of each were admitted.
func raceOn(table *Table, keys []uint64, now tallyring.Tick, goroutines, events int) []uint64 {
	admitted := make([]atomic.Uint64, len(keys))
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for e := range events {
				for i := range keys {
					i = (i + g + e) % len(keys)
					if table.Allow(keys[i], now, 1, 200) {
						admitted[i].Add(1)
					}
				}
			}
		})
	}
	all.Wait()
	counts := make([]uint64, len(keys))
	for i := range counts {
		counts[i] = admitted[i].Load()
	}
	return counts
}

// Goal: goroutines whose P did not exist when the table was made count like all others.
// Method: raise GOMAXPROCS from 2 to 16 while they count, and compare the sum.
func TestTrapGOMAXPROCSGrows(t *testing.T) {
	for _, f := range forms()[1:5] {
		t.Run(f.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			table, err := New(Config{Window: f.window, Keys: 1, WhenFull: Deny})
			require.NoError(t, err)
			cells := int(table.cells())
			var admitted, refused atomic.Uint64
			var all sync.WaitGroup
			for g := range 16 {
				all.Go(func() {
					for i := range scaled(2_000) {
						key := uint64(i%(cells+3)) + 10 // more keys than cells: some are refused
						if table.Allow(key, 0, 1, tallyring.Unlimited) {
							admitted.Add(1)
						} else {
							refused.Add(1)
						}
						if g == 0 && i == 50 {
							runtime.GOMAXPROCS(16)
						}
					}
				})
			}
			all.Wait()
			counted, saturated := uint64(0), false
			for key := range uint64(cells + 3) {
				n := table.Read(key+10, 0).High
				counted += n
				saturated = saturated || n > table.MaxLimit()
			}
			assert.Positive(t, refused.Load())
			assert.Equal(t, refused.Load(), table.Stats(0).Refused)
			if !saturated {
				assert.Equal(t, admitted.Load(), counted)
			}
		})
	}
}

// Goal: contention is never an error, and no event is lost where every goroutine also rotates the
// ring (the rows "CAS retries bounded" and "rotation race"). Method: 64 goroutines on one key,
// whose ticks move on through many buckets; each event must be admitted, and the buckets must add
// up.
func TestTrapCompareAndSwapRetriesAndRotationRace(t *testing.T) {
	for _, f := range forms()[1:] {
		t.Run(f.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
			const key, goroutines = 5, 64
			table := newTable(t, f.window, 4)
			for turn := range scaled(300) {
				start := tallyring.Tick(turn) * 2 * ring(f.window)
				var denied atomic.Int64
				var all sync.WaitGroup
				for range goroutines {
					all.Go(func() {
						// The last tick still sees the first bucket.
						for bucket := range f.window.Slots {
							now := start + tallyring.Tick(bucket)*tallyring.Tick(f.window.Width)
							if !table.Allow(key, now, 1, table.MaxLimit()) {
								denied.Add(1)
							}
						}
					})
				}
				all.Wait()
				end := start + tallyring.Tick(f.window.Length())
				require.Zero(t, denied.Load())
				require.Equal(t, uint64(goroutines*f.window.Slots), table.Read(key, end).High)
			}
		})
	}
}

// Goal: inserters of different keys whose probe ranges are one and the same do not lose each
// other's cells. Method: a table of few cells, all keys at once, each goroutine in another order;
// every key has one cell at rest and counts all of its events. Then the whole again, one ring
// later.
func TestNeighboursInsertAtOnce(t *testing.T) {
	rounds := scaled(3_000)
	eachProcessors(t, func(t *testing.T) {
		for _, f := range forms()[:5] {
			t.Run(f.name, func(t *testing.T) {
				table := newTable(t, f.window, 5)
				for round := range uint64(rounds) {
					now := tallyring.Tick(round) * ring(f.window)
					keys := []uint64{round * 5, round*5 + 1, round*5 + 2, round*5 + 3, round*5 + 4}
					counts := raceOn(table, keys, now, 5, 2)
					require.Equal(t, []uint64{10, 10, 10, 10, 10}, counts)
					c := table.look()
					for _, key := range keys {
						fingerprint, _ := table.home(key)
						require.Len(t, c.homes[fingerprint], 1)
						require.Equal(t, uint64(10), table.Read(key, now).High)
					}
					require.Empty(t, c.duplicates())
				}
				stats := table.Stats(tallyring.Tick(rounds-1) * ring(f.window))
				require.Zero(t, stats.Refused)
				require.Equal(t, uint64(5), stats.Live)
				require.Greater(t, stats.TakenOver, uint64(rounds))
			})
		}
	})
}

// Goal: every verb may run at once on the same keys, and refunds take back no more than was
// counted. Method: takes and refunds in equal number leave nothing; readers see nothing above the
// limit.
func TestTakesAndRefundsAtOnceLeaveNothing(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
			const limit = 3
			table := newTable(t, f.window, 4)
			var over, allowed, denied atomic.Int64
			takeAndRefund := func() {
				for i := range scaled(5_000) {
					key := uint64(i % 4)
					d := table.Take(key, 7, 1, limit)
					if d.Allowed {
						allowed.Add(1)
						runtime.Gosched() // others meet the limit
						table.Refund(key, d.At, 1)
					} else {
						denied.Add(1)
					}
					if table.Read(key, 7).High > limit {
						over.Add(1)
					}
				}
			}
			// On a busy machine a round may pass without a goroutine that meets the limit.
			for round := 0; round == 0 || denied.Load() == 0 && round < 200; round++ {
				var all sync.WaitGroup
				for range 8 {
					all.Go(takeAndRefund)
				}
				all.Wait()
			}
			for key := range uint64(4) {
				require.Equal(t, tallyring.Reading{}, table.Read(key, 7))
			}
			require.Zero(t, over.Load(), "readings above the limit")
			assert.Positive(t, allowed.Load())
			assert.Positive(t, denied.Load(), "nobody met the limit")
		})
	}
}
