package limiter_test

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// crowd runs work in n goroutines that begin together, and counts how many were inside of it at
// once. Each goroutine passes through its work several times if work does so.
type crowd struct {
	inside, most atomic.Int64
}

func (c *crowd) run(n int, work func(i int)) {
	var ready, done sync.WaitGroup
	var begin atomic.Bool
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			for !begin.Load() {
				runtime.Gosched()
			}
			inside := c.inside.Add(1)
			work(i)
			c.inside.Add(-1)
			for most := c.most.Load(); inside > most; most = c.most.Load() {
				if c.most.CompareAndSwap(most, inside) {
					break
				}
			}
		})
	}
	ready.Wait()
	begin.Store(true)
	done.Wait()
}

// rounds calls round at least n times, and on until two goroutines were inside at once, which takes
// long where the machine is busy. It fails the test if that never happens.
func (c *crowd) rounds(t *testing.T, n int, round func(i int)) int {
	t.Helper()
	for i := range 200 * n {
		if i >= n && c.most.Load() > 1 {
			return i
		}
		round(i)
	}
	require.Fail(t, "no two goroutines were at work at once")
	return 0
}

// TestExactlyTheLimitOfACrowd lets 50 goroutines ask at once on a fresh key with a limit of 25,
// often, one event each and several each: exactly 25 pass, no more by checking before adding, no
// fewer by giving up.
func TestExactlyTheLimitOfACrowd(t *testing.T) {
	const limit = 25
	each(t, func(t *testing.T, k kind) {
		n := rounds(300)
		l := k.build(t, limit, limiter.WithKeys(200*n))
		var c crowd
		ran := c.rounds(t, n, func(round int) {
			key := strconv.Itoa(round)
			each := 1 + round%2
			var passed atomic.Int64
			c.run(50, func(i int) {
				for range each {
					if ask(l, i, key, start) {
						passed.Add(1)
					}
				}
			})
			require.EqualValues(t, limit, passed.Load(), "round %d", round)
			require.EqualValues(t, limit, l.PeekAt(key, start).High)
		})
		require.EqualValues(t, ran, l.StatsAt(start).Live, "no key has two cells")
	})
}

// ask takes one event through one of the verbs.
func ask(l *limiter.Limiter, verb int, key string, now tallyring.Tick) bool {
	switch verb % 4 {
	case 0:
		return l.AllowAt(key, now, 1)
	case 1:
		return l.TakeAt(key, now, 1).Allowed
	case 2:
		return l.AllowKey(l.Key(key), now, 1)
	}
	var allowed [1]bool
	l.AllowMany([]limiter.Key{l.Key(key)}, now, 1, allowed[:])
	return allowed[0]
}

// TestACrowdAcrossBuckets lets goroutines ask on one key while the ticks that they share go through
// many buckets. In no trailing window of ticks as counted may more pass than the kind allows, and
// what is still counted at the end is what was admitted.
func TestACrowdAcrossBuckets(t *testing.T) {
	const limit = 50
	each(t, func(t *testing.T, k kind) {
		var c crowd
		c.rounds(t, 1, func(int) {
			l := k.build(t, limit, limiter.WithKeys(1))
			var now atomic.Int64
			now.Store(int64(start))
			ticks := make([][]tallyring.Tick, 8)
			c.run(len(ticks), func(i int) {
				for range rounds(3000) {
					tick := now.Add(rand.Int64N(int64(window) / 60))
					if d := l.TakeAt("a", tallyring.Tick(tick), 1); d.Allowed {
						ticks[i] = append(ticks[i], d.At)
					}
				}
			})
			requireTrailing(t, k, limit, ticks, tallyring.Tick(now.Load()))
		})
	})
}

// TestSetLimitRacesWithDecisions sets the limit to and fro while a crowd asks: never more pass than
// the largest of the limits, and no fewer than the least.
func TestSetLimitRacesWithDecisions(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		var c crowd
		c.rounds(t, rounds(50), func(round int) {
			key := strconv.Itoa(round)
			var passed atomic.Int64
			c.run(6, func(i int) {
				for j := range 100 {
					switch {
					case i > 0 && ask(l, i, key, start):
						passed.Add(1)
					case i == 0 && l.SetLimit(uint64(10+j%2*15)) != nil:
						t.Error("SetLimit failed")
					}
				}
			})
			require.GreaterOrEqual(t, passed.Load(), int64(10))
			require.LessOrEqual(t, passed.Load(), int64(25))
			require.NoError(t, l.SetLimit(25))
			require.EqualValues(t, 25-passed.Load(), admitted(l, key, start, 50))
			require.NoError(t, l.SetLimit(10))
		})
	})
}

// TestKeyLimitsRaceWithDecisions gives one key a limit of its own and takes it away while a crowd
// asks on it and on its neighbour: the one stays below the larger limit, the other at the common
// one.
func TestKeyLimitsRaceWithDecisions(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 10)
		var c crowd
		c.rounds(t, rounds(50), func(round int) {
			key, beside := "a"+strconv.Itoa(round), "b"+strconv.Itoa(round)
			var passed, besidePassed atomic.Int64
			c.run(6, func(i int) {
				for j := range 100 {
					switch {
					case i == 0 && j%2 == 0:
						if l.SetKeyLimit(l.Key(key), 25) != nil {
							t.Error("SetKeyLimit failed")
						}
					case i == 0:
						l.ClearKeyLimit(l.Key(key))
					case ask(l, j, key, start):
						passed.Add(1)
					case ask(l, j, beside, start):
						besidePassed.Add(1)
					}
				}
			})
			require.EqualValues(t, 10, besidePassed.Load(), "the neighbour")
			require.GreaterOrEqual(t, passed.Load(), int64(10))
			require.LessOrEqual(t, passed.Load(), int64(25))
			require.NoError(t, l.SetKeyLimit(l.Key(key), 25))
			require.EqualValues(t, 25-passed.Load(), admitted(l, key, start, 50))
			l.ClearKeyLimit(l.Key(key))
		})
		require.Zero(t, l.StatsAt(start).KeyLimits)
	})
}

// TestMixedVerbsLoseNothing lets a crowd take, ask, read and refund on few keys in one bucket.
// What a key counts in the end is what was admitted less what was given back.
func TestMixedVerbsLoseNothing(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		var c crowd
		c.rounds(t, 4, func(round int) {
			l := k.build(t, 1_000_000, limiter.WithKeys(8))
			var kept [4]atomic.Int64
			c.run(8, func(i int) {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(round)))
				for range rounds(1000) {
					mixedVerb(l, rng, &kept)
				}
			})
			for i := range kept {
				require.EqualValues(t, kept[i].Load(), l.PeekAt(strconv.Itoa(i), start).High)
				require.Positive(t, kept[i].Load())
			}
		})
	})
}

// mixedVerb calls one verb on one key, and keeps what is counted thereby.
func mixedVerb(l *limiter.Limiter, rng *rand.Rand, kept *[4]atomic.Int64) {
	i, cost := rng.IntN(len(kept)), uint64(rng.IntN(4))
	key := strconv.Itoa(i)
	switch rng.IntN(8) {
	case 0, 1:
		if l.AllowAt(key, start, cost) {
			kept[i].Add(int64(cost))
		}
	case 2, 3:
		d := l.TakeAt(key, start, cost)
		kept[i].Add(int64(cost))
		if rng.IntN(2) == 0 {
			l.RefundAt(key, d.At, cost)
			kept[i].Add(-int64(cost))
		}
	case 4:
		keys, allowed := []limiter.Key{l.Key("0"), l.Key("1")}, make([]bool, 2)
		l.AllowMany(keys, start, cost, allowed)
		kept[0].Add(int64(cost))
		kept[1].Add(int64(cost))
	case 5:
		l.PeekAt(key, start)
		l.AllowAt(key, start, 1_000_001)
	case 6:
		if rng.IntN(100) == 0 {
			l.StatsAt(start)
		}
	default:
		if ask(l, int(cost), key, start) {
			kept[i].Add(1)
		}
	}
}
