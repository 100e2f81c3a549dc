package limiter_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// Goal: a hot key answers like any other key. Method: the same events on a limiter with the key
// named hot and on one without, for every verb, each Decision compared in full.
func TestAHotKeyAnswersLikeAnyOther(t *testing.T) {
	for _, opts := range [][]limiter.Option{
		nil, {limiter.WithStrictWindow()}, {limiter.WithFixedWindow()},
		{limiter.WithResolution(time.Second)},
	} {
		plain, err := limiter.New(7, time.Minute, opts...)
		require.NoError(t, err)
		hot, err := limiter.New(7, time.Minute, append(opts, limiter.WithHotKeys("site"))...)
		require.NoError(t, err)
		denied := 0
		for i := range tallyring.Tick(2000) {
			now := i * 1e9 / 2
			if i%17 == 3 {
				now -= 5e9 // late
			}
			cost := uint64(i % 4)
			want, got := plain.TakeAt("site", now, cost), hot.TakeAt("site", now, cost)
			require.Equal(t, want, got, "Take at %d of cost %d", now, cost)
			require.Equal(t, plain.PeekAt("site", now), hot.PeekAt("site", now))
			if !want.Allowed {
				denied++
			}
			if i%5 == 0 && want.Allowed {
				plain.RefundAt("site", want.At, cost)
				hot.RefundAt("site", want.At, cost)
			}
			require.Equal(t, plain.AllowAt("other", now, 1), hot.AllowAt("other", now, 1))
		}
		require.Positive(t, denied)
		require.Equal(t, 1, hot.Stats().HotKeys)
		require.Greater(t, hot.Stats().Bytes, plain.Stats().Bytes)
	}
}

func TestLimitsOfHotKeys(t *testing.T) {
	l, err := limiter.New(2, time.Minute, limiter.WithHotKeys("a", "b"))
	require.NoError(t, err)
	passed := func(key string) (n int) {
		for range 100 {
			if l.AllowAt(key, 1, 1) {
				n++
			}
		}
		return n
	}
	require.Equal(t, 2, passed("a"))
	require.NoError(t, l.SetKeyLimit(l.Key("a"), 5))
	require.NoError(t, l.SetLimit(9))
	require.Equal(t, 3, passed("a"), "its own limit of 5, of which 2 are spent")
	require.Equal(t, 9, passed("b"))
	l.ClearKeyLimit(l.Key("a"))
	require.Equal(t, 4, passed("a"), "the common limit of 9")
	allowed := make([]bool, 2)
	l.AllowMany([]limiter.Key{l.Key("a"), l.Key("c")}, 1, 1, allowed)
	require.Equal(t, []bool{false, true}, allowed)
	_, err = limiter.New(1, time.Minute, limiter.WithLog(), limiter.WithHotKeys("a"))
	require.ErrorContains(t, err, "want it without hot keys")
	_, err = limiter.New(1<<40, time.Second, limiter.WithHotKeys("a"))
	require.ErrorContains(t, err, "want a lower limit")
}

// Goal: exactly the limit passes on a hot key, whoever asks. Method: many goroutines, fresh
// limiters.
func TestExactlyTheLimitPassesOnAHotKey(t *testing.T) {
	for round := range 200 {
		limit := uint64(1 + round*7%1000)
		l, err := limiter.New(limit, time.Minute, limiter.WithKeys(1), limiter.WithHotKeys("site"))
		require.NoError(t, err)
		var passed atomic.Uint64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range limit/4 + 1 {
					if l.AllowAt("site", 1, 1) {
						passed.Add(1)
					}
				}
			})
		}
		all.Wait()
		require.Equal(t, limit, passed.Load())
	}
}

// Goal: when all changes of limits are over, each hot key has the limit that the limiter tells.
// Method: changes of the common limit walk over all hot keys, which takes so long that others come
// in between; each goroutine makes few changes, so that those that met are often the last.
func TestLimitsOfManyHotKeysAreThoseOfTheLimiter(t *testing.T) {
	const keys = 100
	var names []string
	for i := range keys {
		names = append(names, fmt.Sprintf("hot-%d", i))
	}
	l, err := limiter.New(1, time.Minute, limiter.WithMaxLimit(9), limiter.WithHotKeys(names...))
	require.NoError(t, err)
	common, own := map[uint64]int{}, 0
	for round := range tallyring.Tick(rounds(2000)) {
		var all sync.WaitGroup
		for _, limit := range rand.Perm(4) {
			all.Go(func() {
				for range 1 + rand.IntN(3) {
					_ = l.SetLimit(uint64(1 + limit))
				}
			})
		}
		for range 2 {
			all.Go(func() {
				for i := range 10 {
					_ = l.SetKeyLimit(l.Key(names[i]), 9)
				}
			})
			all.Go(func() {
				for i := range 10 {
					l.ClearKeyLimit(l.Key(names[i]))
				}
			})
		}
		all.Wait()
		left := 0
		for _, name := range names {
			if limit := l.TakeKey(l.Key(name), 0, 0).Limit; limit == 9 {
				left++
			} else {
				require.Equal(t, l.Limit(), limit, "round %d, key %s", round, name)
			}
		}
		require.Equal(t, l.StatsAt(0).KeyLimits, left, "round %d", round)
		common[l.Limit()]++
		own += min(left, 1)
		for i := range 10 {
			l.ClearKeyLimit(l.Key(names[i]))
		}
	}
	require.Positive(t, own)
	require.Greater(t, len(common), 2, "the changes hardly met: %v", common)
}
