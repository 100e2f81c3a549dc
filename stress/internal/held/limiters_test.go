package held

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/pertcore"
)

// limiter is a limiter of four shards or more, in a bucket of a second.
type limiter struct {
	*stage
	*pertcore.Limiter
	limit uint64
	room  uint64 // what must remain for shared mode
}

// newLimiter returns a limiter of which a number of events may still be admitted, and that has
// counted 100 in its newest bucket, second(begun).
func newLimiter(t testing.TB, slots int, left func(room uint64) uint64) limiter {
	fourProcessors(t)
	return openLimiter(newStage(t), slots, left)
}

// fourProcessors makes limiters and counters have four shards at least.
func fourProcessors(t testing.TB) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// openLimiter is newLimiter on a stage that there is.
func openLimiter(s *stage, slots int, left func(room uint64) uint64) limiter {
	shards := uint64(1)
	for shards < uint64(max(runtime.GOMAXPROCS(0), runtime.NumCPU())) {
		shards *= 2
	}
	room := shards * max(shards, 2)
	l := limiter{s, nil, 100 + left(room), room}
	var err error
	l.Limiter, err = pertcore.NewLimiter(
		tallyring.Window{Slots: slots, Width: time.Second}, l.limit)
	require.NoError(s, err)
	require.Equal(s, shards, uint64(l.Shards()))
	require.True(s, l.Allow(second(begun), 100))
	return l
}

// newShared returns a limiter in shared mode, with all shards spent from once.
func newShared(t testing.TB, slots int) limiter {
	l := newLimiter(t, slots, func(room uint64) uint64 { return 8 * room })
	for seat := range l.Shards() {
		l.runAt(seat, func() { require.True(t, l.Allow(second(begun), 1)) })
	}
	spender := l.run(func() { require.True(t, l.Allow(second(begun), 1)) })
	require.Positive(t, spender.passed[tallyring.LimiterSpend], "it is not in shared mode")
	return l
}

// newExact returns a limiter in exact mode, with ten events left.
func newExact(t testing.TB, slots int) limiter {
	l := newLimiter(t, slots, func(uint64) uint64 { return 10 })
	spender := l.run(func() { require.True(t, l.Allow(second(begun), 1)) })
	require.Zero(t, spender.passed[tallyring.LimiterSpend], "it is not in exact mode")
	return l
}

// fills checks that the limiter counts so many in the window of a tick, and that exactly the rest
// of the limit is admitted, by events that come to all shards in turn.
func (l limiter) fills(now tallyring.Tick, count uint64) {
	l.Helper()
	require.Equal(l, count, l.Read(now).High)
	for seat := 0; count < l.limit; seat++ {
		cost := min(l.limit-count, 1+uint64(seat%5))
		l.runAt(seat, func() { require.True(l, l.Allow(now, cost), "%d of %d", count, l.limit) })
		count += cost
	}
	for seat := range l.Shards() {
		l.runAt(seat, func() { require.False(l, l.Allow(now, 1)) })
	}
	require.Equal(l, l.limit, l.Read(now).High)
}

// look returns all that can be read of the limiter from a bucket on.
func (l limiter) look(bucket int) func() any {
	return func() any {
		var readings []tallyring.Reading
		for i := range 4 {
			readings = append(readings, l.Read(second(bucket+i)))
		}
		return readings
	}
}

// verbs are the ways to ask for an event of a cost.
var verbs = map[string]func(l limiter, now tallyring.Tick, cost uint64) bool{
	"Allow": func(l limiter, now tallyring.Tick, cost uint64) bool { return l.Allow(now, cost) },
	"Take": func(l limiter, now tallyring.Tick, cost uint64) bool {
		return l.Take(now, cost).Allowed
	},
}

// TestSpendAgainstClose takes both orders of a spend and of the close of its shard, which have both
// loaded the same word. If the spend is first, the close fails and sees what is used. If the close
// is first, the spend fails and is decided on in another way. With the shard's first spend of a
// generation and with a later one.
func TestSpendAgainstClose(t *testing.T) {
	for verb, ask := range verbs {
		for _, fresh := range []bool{true, false} {
			bothOrders(t, verb, "close", func(t *testing.T, spendFirst bool) {
				l := newShared(t, 1)
				count := l.Read(second(begun)).High
				if fresh { // a new generation, opened by another shard
					require.NoError(t, l.SetLimit(l.limit))
					l.runAt(0, func() { require.True(t, l.Allow(second(begun), 1)) })
					count++
				}
				spend := l.seated(1, verb, func() { require.True(t, ask(l, second(begun), 3)) })
				spend.to(tallyring.LimiterSpend)
				fold := l.actor("the fold", func() { require.NoError(t, l.SetLimit(l.limit)) })
				fold.to(tallyring.LimiterClose)
				fold.to(tallyring.LimiterClose) // of the second shard
				closes := 3
				if spendFirst {
					spend.end()
					require.Equal(t, 1, spend.passed[tallyring.LimiterSpend])
					closes++
				} else {
					fold.to(tallyring.LimiterClose)
					spend.end()
					require.Positive(t, spend.passed[tallyring.LimiterCount], "exactly, at last")
				}
				fold.end()
				require.GreaterOrEqual(t, fold.passed[tallyring.LimiterClose], closes)
				l.fills(second(begun), count+3)
			})
		}
	}
}

// TestStalledCloser stops a fold before it closes each of the shards, and before its last swap.
// Others spend, fold and open generations on, up to exactly the limit. When it wakes, it changes
// nothing, or closes what is of no harm.
func TestStalledCloser(t *testing.T) {
	shards := newShared(t, 1).Shards()
	for closed := range shards + 1 {
		for others := range 4 { // how much of what is left is spent before it wakes
			l := newShared(t, 1)
			count := l.Read(second(begun)).High
			fold := l.actor("the fold", func() { require.NoError(t, l.SetLimit(l.limit)) })
			for range min(closed+1, shards) {
				fold.to(tallyring.LimiterClose)
			}
			if closed == shards {
				fold.to(tallyring.LimiterFold)
			}
			require.Equal(t, count, l.Read(second(begun)).High, "closing changes no count")
			switch others {
			case 1, 2:
				for seat := range shards * others {
					l.runAt(seat, func() { require.True(t, l.Allow(second(begun), 2)) })
					count += 2
				}
			case 3:
				l.fills(second(begun), count)
				count = l.limit
			}
			fold.wakes(l.look(begun))
			l.runAt(1, func() { require.Equal(t, count < l.limit, l.Allow(second(begun), 1)) })
			count = min(count+1, l.limit)
			fold.end()
			l.fills(second(begun), count)
		}
	}
}

// TestTwoFolds lets two folds close all shards and swap the center from the same, in either order.
// One swap fails, and the count is added up once.
func TestTwoFolds(t *testing.T) {
	bothOrders(t, "one", "the other", func(t *testing.T, oneFirst bool) {
		l := newShared(t, 1)
		count := l.Read(second(begun)).High
		one := l.actor("one", func() { require.NoError(t, l.SetLimit(l.limit)) })
		other := l.actor("the other", func() { l.Observe(second(begun), 5) })
		one.to(tallyring.LimiterFold)
		other.to(tallyring.LimiterFold)
		if !oneFirst {
			one, other = other, one
		}
		one.end()
		other.wakes(l.look(begun))
		other.end()
		l.fills(second(begun), count+5)
	})
}

// TestTwoSpendsOfOneShard lets two goroutines of one P load the same word. The second swap fails,
// and its event is decided on again.
func TestTwoSpendsOfOneShard(t *testing.T) {
	for verb, ask := range verbs {
		bothOrders(t, "one", "the other", func(t *testing.T, oneFirst bool) {
			l := newShared(t, 1)
			count := l.Read(second(begun)).High
			var cast [2]*actor
			for i := range cast {
				cast[i] = l.seated(1, fmt.Sprint(verb, i), func() {
					require.True(t, ask(l, second(begun), 3))
				}).to(tallyring.LimiterSpend)
			}
			if !oneFirst {
				cast[0], cast[1] = cast[1], cast[0]
			}
			cast[0].end()
			cast[1].end()
			require.Equal(t, 2, cast[1].passed[tallyring.LimiterSpend])
			l.fills(second(begun), count+6)
		})
	}
}

// TestStaleSpender stops a spender between any two of its loads and before its swap, and lets 1 to
// 20 generations end, among them those whose low bits are the same again. It spends nothing of a
// generation that it did not see.
func TestStaleSpender(t *testing.T) {
	for verb, ask := range verbs {
		for _, p := range []tallyring.Point{
			tallyring.LimiterLooked, tallyring.LimiterKey, tallyring.LimiterWeigh,
			tallyring.LimiterSpend,
		} {
			for ended := 1; ended <= 20; ended++ {
				if verb == "Allow" && (p == tallyring.LimiterKey || p == tallyring.LimiterWeigh) {
					continue // it has them where it is not in shared mode
				}
				l := newShared(t, 1)
				count := l.Read(second(begun)).High
				spend := l.seated(1, verb, func() {
					require.True(t, ask(l, second(begun),
						3))
				}).to(p)
				for range ended {
					require.NoError(t, l.SetLimit(l.limit))
					l.runAt(0, func() { require.True(t, l.Allow(second(begun), 1)) })
					count++
				}
				if p == tallyring.LimiterSpend {
					spend.wakes(l.look(begun))
				}
				spend.end()
				l.fills(second(begun), count+3)
			}
		}
	}
}

// TestStaleSpenderAtTheEdge is the same where nothing is left when the spender wakes: it is denied.
func TestStaleSpenderAtTheEdge(t *testing.T) {
	for verb, ask := range verbs {
		for _, p := range []tallyring.Point{tallyring.LimiterLooked, tallyring.LimiterSpend} {
			for ended := range 20 {
				l := newShared(t, 1)
				spend := l.seated(1, verb, func() {
					require.False(t, ask(l, second(begun),
						3))
				}).to(p)
				for range ended {
					require.NoError(t, l.SetLimit(l.limit))
					l.runAt(0, func() { require.True(t, l.Allow(second(begun), 1)) })
				}
				l.fills(second(begun), l.Read(second(begun)).High)
				spend.wakes(l.look(begun))
				spend.end()
				require.Equal(t, l.limit, l.Read(second(begun)).High)
			}
		}
	}
}

// TestStaleSpenderWithALargerShare lets a spender sleep between its two loads until shares are so
// small that its cost would take the count over the limit, in a generation that its shard is open
// in. It is denied, also where the head looks like the one of then.
func TestStaleSpenderWithALargerShare(t *testing.T) {
	for verb, ask := range verbs {
		for ended := 1; ended <= 20; ended++ {
			l := newShared(t, 1)
			count := l.Read(second(begun)).High
			cost := (l.limit - count) / uint64(l.Shards()) * 3 / 4
			require.Greater(t, cost, l.room)
			allowed := true
			spend := l.seated(1, verb, func() { allowed = ask(l, second(begun), cost) })
			spend.to(tallyring.LimiterLooked)
			for i := range ended {
				require.NoError(t, l.SetLimit(l.limit))
				more := uint64(1)
				if i == ended-1 {
					more = l.limit - count - l.room
				}
				l.runAt(0, func() { require.True(t, l.Allow(second(begun), more)) })
				count += more
			}
			opens := l.runAt(1, func() { require.True(t, l.Allow(second(begun), 1)) })
			require.Equal(t, 1, opens.passed[tallyring.LimiterSpend], "the shard is not open")
			spend.end()
			require.False(t, allowed)
			l.fills(second(begun), count+1)
		}
	}
}

// TestDenialWhileShardsAreSpent stops a denial while it adds up the shards, and lets others spend
// from one that it has added already and from one that it has not. It stays a denial: what is used
// only grows. If an event is taken back meanwhile, which ends the generation, it looks again.
func TestDenialWhileShardsAreSpent(t *testing.T) {
	for verb, ask := range verbs {
		for _, p := range []tallyring.Point{tallyring.LimiterSum, tallyring.LimiterConfirm} {
			for _, refunded := range []bool{false, true} {
				l := newShared(t, 1)
				count := l.Read(second(begun)).High
				cost := l.limit - count + 1
				allowed := false
				denial := l.seated(1, verb, func() { allowed = ask(l, second(begun), cost) })
				denial.to(p)
				if p == tallyring.LimiterSum {
					denial.to(p).to(p) // two shards are added up
				}
				if refunded {
					l.run(func() { l.Refund(second(begun), 1) })
					denial.end()
					require.True(t, allowed)
					require.Equal(t, l.limit, l.Read(second(begun)).High)
					continue
				}
				for seat := range l.Shards() {
					l.runAt(seat, func() { require.True(t, l.Allow(second(begun), 1)) })
				}
				denial.end()
				require.False(t, allowed)
				l.fills(second(begun), count+uint64(l.Shards()))
			}
		}
	}
}
