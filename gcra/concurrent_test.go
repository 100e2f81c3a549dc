package gcra

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// crew runs work in rounds on some goroutines that all start a round together. The last to finish
// a round calls between, while the others wait, to check it and to prepare the next.
func crew(workers, rounds int, work func(worker, round int), between func(round int)) {
	gates := make([]chan struct{}, rounds)
	for round := range gates {
		gates[round] = make(chan struct{})
	}
	var arrived atomic.Int64
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for round, gate := range gates {
				work(worker, round)
				if arrived.Add(1) == int64(workers*(round+1)) {
					between(round)
					close(gate)
				}
				<-gate
			}
		})
	}
	all.Wait()
}

// onProcs runs a test with some numbers of processors for goroutines, more than the machine has
// among them.
func onProcs(t *testing.T, test func(t *testing.T)) {
	for _, procs := range []int{1, 2, 4, 16} {
		t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
			before := runtime.GOMAXPROCS(procs)
			defer runtime.GOMAXPROCS(before)
			test(t)
		})
	}
}

// attempts repeats what Bucket does with a transition, one attempt at a time. It runs wait, if
// there is one, between its first look at the word and what it does about it, so that goroutines
// meet even on one processor. It returns how many attempts failed because another's came first.
func attempts(b *Bucket, wait func(), transition func(word uint64) uint64) (overtaken int) {
	for {
		word := b.word.Load()
		if wait != nil {
			wait()
			wait = nil
		}
		next := transition(word)
		if next == word || b.word.CompareAndSwap(word, next) {
			return overtaken
		}
		overtaken++
	}
}

// ask is Bucket.Allow in attempts.
func ask(b *Bucket, now tallyring.Tick, cost uint64, wait func()) (allowed bool, overtaken int) {
	overtaken = attempts(b, wait, func(word uint64) (next uint64) {
		next, allowed = b.rate.Next(word, now, cost, b.burst)
		return next
	})
	return allowed, overtaken
}

// yielding returns what lets other goroutines run, or nil.
func yielding(yes bool) func() {
	if yes {
		return runtime.Gosched
	}
	return nil
}

// TestExactlyTheBurstPassesAtOnce lets 50 goroutines at once ask a bucket that is full for one
// event each, at one tick, under a burst of 25, in many rounds: exactly 25 pass. The bucket is a
// new one, or the same after it has refilled. Some of them use the methods, the others count how
// often they were overtaken.
func TestExactlyTheBurstPassesAtOnce(t *testing.T) {
	const workers, burst = 50, 25
	for _, events := range []uint64{10, 17} {
		onProcs(t, func(t *testing.T) {
			var passed, overtaken atomic.Int64
			b, now := bucket(t, events, time.Second, burst), tallyring.Tick(1767225600e9)
			work := func(worker, round int) {
				var allowed bool
				switch worker % 4 {
				case 0:
					allowed = b.Allow(now, 1)
				case 1:
					allowed = b.Take(now, 1).Allowed
				default:
					var n int
					allowed, n = ask(b, now, 1, yielding(round%4 == worker%5))
					overtaken.Add(int64(n))
				}
				if allowed {
					passed.Add(1)
				}
			}
			crew(workers, rounds(1500), work, func(round int) {
				if n := passed.Swap(0); n != burst {
					t.Errorf("round %d: %d events passed, want %d", round, n, burst)
				}
				refilled := now + tallyring.Tick(b.Take(now, 0).ResetAfter)
				if now = refilled + tallyring.Tick(round%3); round%2 == 0 {
					b = bucket(t, events, time.Second, burst)
				}
			})
			require.Positive(t, overtaken.Load(), "no goroutine ever met another")
		})
	}
}

// TestStormKeepsEveryUnit charges and refunds one bucket from many goroutines at ticks of their
// own, which lag behind each other, while it never runs full: then the order does not matter, and
// at the end it owes exactly what was charged less what was refunded and what time has paid for.
func TestStormKeepsEveryUnit(t *testing.T) {
	const workers, operations, ticks = 8, 400, 1000
	for _, s := range []shape{{1000, time.Second, 1 << 38}, {1013, time.Second, 1 << 38}} {
		onProcs(t, func(t *testing.T) {
			b := bucket(t, s.events, s.per, s.burst)
			start := tallyring.Tick(1767225600e9)
			const debt = 1_000_000 // more than is refunded and paid for in all
			require.True(t, b.Add(start, debt))
			due := dueOf(&b.rate, b.word.Load(), start)
			var net, overtaken atomic.Int64
			work := func(worker, round int) {
				rng := rand.New(rand.NewPCG(uint64(worker), uint64(round)))
				for range operations {
					now := start + tallyring.Tick(rng.Int64N(ticks))
					cost := 1 + rng.Uint64N(5)
					switch rng.IntN(4) {
					case 0:
						b.Add(now, cost)
						net.Add(int64(cost))
					case 1:
						b.Refund(now, cost)
						net.Add(-int64(cost))
					case 2:
						if b.Allow(now, cost) {
							net.Add(int64(cost))
						}
					case 3:
						allowed, n := ask(b, now, cost, yielding(rng.IntN(8) == 0))
						require.True(t, allowed)
						net.Add(int64(cost))
						overtaken.Add(int64(n))
					}
				}
			}
			crew(workers, rounds(10), work, func(round int) {
				units := whole(b.rate.perEvent)
				want := units.Mul(units, whole(uint64(debt+net.Load())))
				want.Add(want, due).Sub(want, whole(debt*b.rate.perEvent))
				if got := dueOf(&b.rate, b.word.Load(), start+ticks); got.Cmp(want) != 0 {
					t.Errorf("round %d: due at %v, want %v", round, got, want)
				}
			})
			require.Positive(t, overtaken.Load(), "no goroutine ever met another")
		})
	}
}

// TestStormStaysUnderTheRate lets goroutines ask one bucket, each at ticks of its own, some of them
// late by many spans. What was admitted is never more than the burst and what the ticks so far pay
// for; and as there is always one who asks, it is not much less.
func TestStormStaysUnderTheRate(t *testing.T) {
	const workers, burst, events = 8, 20, 30
	onProcs(t, func(t *testing.T) {
		b := bucket(t, events, time.Second, burst)
		start := tallyring.Tick(1767225600e9)
		require.Equal(t, burst, passing(b, burst, start))
		var passed, overtaken atomic.Int64
		latest := start
		work := func(worker, round int) {
			rng := rand.New(rand.NewPCG(uint64(worker), uint64(round)))
			for range 20 {
				now := latest + tallyring.Tick(rng.Int64N(int64(second/100)))
				if worker%4 == 3 {
					now -= tallyring.Tick(rng.Int64N(int64(10 * second)))
				}
				allowed := false
				if worker%2 == 0 {
					allowed = b.Allow(now, 1)
				} else {
					var n int
					allowed, n = ask(b, now, 1, yielding(rng.IntN(4) == 0))
					overtaken.Add(int64(n))
				}
				if allowed {
					passed.Add(1)
				}
			}
		}
		crew(workers, rounds(1000), work, func(round int) {
			latest += second / 100
			most := int64(latest-start) * events / int64(second)
			if n := passed.Load(); n > most || n < most-2*burst {
				t.Errorf("round %d: %d passed, want at most %d and hardly less", round, n, most)
			}
		})
		require.Positive(t, overtaken.Load(), "no goroutine ever met another")
	})
}
