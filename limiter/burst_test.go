package limiter_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/gcra"
	"github.com/tallyring/tallyring/limiter"
)

// TestTokenBucketsAreThoseOfGCRA drives every verb on many keys, and a bucket of package gcra for
// each, through random scripts of the same ticks: they answer alike.
func TestTokenBucketsAreThoseOfGCRA(t *testing.T) {
	const keys, burst = 50, 20
	for seed := range uint64(rounds(40)) {
		random := rand.New(rand.NewPCG(seed, 3))
		events := 1 + random.Uint64N(1000)
		per := time.Duration(1 + random.Int64N(int64(time.Hour)))
		if uint64(per) < events {
			per = time.Duration(events)
		}
		l, err := limiter.New(events, per, limiter.WithBurst(burst), limiter.WithKeys(keys))
		require.NoError(t, err)
		require.Equal(t, uint64(burst), l.Limit())
		var buckets [keys]*gcra.Bucket
		for i := range buckets {
			buckets[i], err = gcra.New(events, per, burst)
			require.NoError(t, err)
		}
		now := start
		for step := range 400 {
			now += tallyring.Tick(random.ExpFloat64() * float64(per) / float64(events) / keys)
			key := random.IntN(keys)
			name, bucket := string(rune('A'+key)), buckets[key]
			cost := random.Uint64N(burst + 2)
			switch random.IntN(4) {
			case 0:
				require.Equal(t, bucket.Take(now, cost), l.TakeAt(name, now, cost),
					"seed %d, step %d", seed, step)
			case 1:
				require.Equal(t, bucket.Allow(now, cost), l.AllowAt(name, now, cost))
			case 2:
				require.Equal(t, bucket.Read(now), l.PeekAt(name, now))
			case 3:
				bucket.Refund(now, cost/4)
				l.RefundAt(name, now, cost/4)
			}
		}
	}
}

// TestTokenBucketSchedule is 1 per second with a burst of 2: after an idle time of 2 s the events
// that keep coming pass at 0, 0, 1, 2 ... and never all at once.
func TestTokenBucketSchedule(t *testing.T) {
	l, err := limiter.New(1, time.Second, limiter.WithBurst(2))
	require.NoError(t, err)
	require.True(t, l.AllowAt("a", start, 1))
	now := start + 2*tallyring.Tick(time.Second)
	for _, after := range []time.Duration{0, 0, time.Second, 2 * time.Second, 3 * time.Second} {
		d := l.TakeAt("a", now, 1)
		for !d.Allowed {
			require.False(t, l.AllowAt("a", now+tallyring.Tick(d.RetryAfter)-1, 1))
			now += tallyring.Tick(d.RetryAfter)
			d = l.TakeAt("a", now, 1)
		}
		require.Equal(t, start+2*tallyring.Tick(time.Second)+tallyring.Tick(after), d.At)
	}
}

// TestTokenBucketKeysUnderContention asks for many keys from many goroutines at one tick, more keys
// than expired cells around them: each fresh key passes exactly its burst, also once time has
// emptied the cells and others have taken them over.
func TestTokenBucketKeysUnderContention(t *testing.T) {
	const workers, keys, burst = 8, 64, 25
	l, err := limiter.New(10, time.Second, limiter.WithBurst(burst), limiter.WithKeys(keys))
	require.NoError(t, err)
	for round := range rounds(50) {
		now := start + tallyring.Tick(round)*tallyring.Tick(time.Hour)
		var passed [keys]atomic.Int64
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				for i := range keys * 8 {
					key := (i*7 + worker*3) % keys
					if l.AllowKey(limiter.Key(key+round*keys+2), now, 1) {
						passed[key].Add(1)
					}
				}
			})
		}
		group.Wait()
		for key := range keys {
			require.Equal(t, int64(burst), passed[key].Load(), "round %d, key %d", round, key)
		}
	}
	require.Positive(t, l.Stats().TakenOver)
	require.Zero(t, l.Stats().Refused)
}

// TestTokenBucketsWhereTheTableIsFull lets keys without a cell share one bucket, or none.
func TestTokenBucketsWhereTheTableIsFull(t *testing.T) {
	for policy, want := range map[limiter.FullPolicy]int{
		limiter.Deny: 0, limiter.Overflow: 5, limiter.Allow: 1000,
	} {
		l, err := limiter.New(1, time.Second, limiter.WithBurst(5), limiter.WithKeys(1),
			limiter.WithFullPolicy(policy))
		require.NoError(t, err)
		cells := int(l.Stats().Cells)
		for key := range cells {
			require.True(t, l.AllowKey(limiter.Key(key+2), start, 5))
		}
		passed := 0
		for key := range 1000 {
			if l.TakeKey(limiter.Key(key+2000), start, 1).Allowed {
				passed++
			}
		}
		require.Equal(t, want, passed)
	}
}

// TestTokenBucketVerbs walks through what is different from a window, and what is not.
func TestTokenBucketVerbs(t *testing.T) {
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	l, err := limiter.New(980_000_000, 10*time.Second, limiter.WithBurst(980_000_000),
		limiter.WithClock(clock))
	require.NoError(t, err)
	require.True(t, l.AllowN("a", 980_000_000))
	require.False(t, l.Allow("a"))
	clock.Advance(10 * time.Second)
	require.Equal(t, uint64(980_000_000), l.Take("a", 0).Remaining, "full after 10 s")

	require.NoError(t, l.SetLimit(3))
	require.Equal(t, uint64(3), l.Take("b", 0).Remaining)
	require.Equal(t, tallyring.Never, l.Take("b", 4).RetryAfter)
	require.NoError(t, l.SetKeyLimit(l.Key("b"), 6))
	require.True(t, l.AllowN("b", 6))
	require.True(t, l.Observe("b", 1000))
	waiting := l.Reserve("b", 1)
	clock.Advance(time.Microsecond)
	require.Equal(t, 1, l.Stats().Waiting)
	clock.Advance(time.Second)
	_, err = waiting.Result()
	require.NoError(t, err)
	var allowed [5]bool
	c := l.Key("c")
	l.AllowMany([]limiter.Key{c, c, c, c, c}, clock.Now(), 1, allowed[:])
	require.Equal(t, [5]bool{true, true, true}, allowed)
}

// TestTokenBucketsOfAnyLength makes buckets that take a nanosecond and ten years to refill.
func TestTokenBucketsOfAnyLength(t *testing.T) {
	l, err := limiter.New(1, tallyring.MaxLength, limiter.WithBurst(1))
	require.NoError(t, err)
	d := l.TakeAt("a", start, 1)
	require.True(t, d.Allowed)
	require.Equal(t, tallyring.MaxLength, l.TakeAt("a", start, 1).RetryAfter)
	require.True(t, l.AllowAt("a", start+tallyring.Tick(tallyring.MaxLength), 1))
	l, err = limiter.New(7, 1, limiter.WithBurst(7))
	require.NoError(t, err)
	require.True(t, l.AllowAt("a", start, 7))
	require.False(t, l.AllowAt("a", start, 1))
	require.True(t, l.AllowAt("a", start+1, 7))
	l, err = limiter.New(30, time.Second, limiter.WithBurst(tallyring.Unlimited))
	require.NoError(t, err)
	require.True(t, l.AllowAt("a", start, 1e6))
	require.NoError(t, l.SetLimit(30))
	require.False(t, l.AllowAt("a", start, 1))
}

func TestTokenBucketErrors(t *testing.T) {
	for _, c := range []struct {
		limit uint64
		per   time.Duration
		opts  []limiter.Option
		says  []string
	}{
		{0, time.Second, nil, []string{"0 events"}},
		{100, 1, nil, []string{"rate of 100 per 1ns"}},
		{1, time.Second, []limiter.Option{limiter.WithStrictWindow()}, []string{"token bucket"}},
		{1, time.Second, []limiter.Option{limiter.WithLog()}, []string{"token bucket"}},
		{1, time.Second, []limiter.Option{limiter.WithHotKeys("a")}, []string{"token bucket"}},
		{1, time.Second, []limiter.Option{limiter.WithMaxLimit(4)}, []string{"burst 5", "4"}},
	} {
		_, err := limiter.New(c.limit, c.per, append(c.opts, limiter.WithBurst(5))...)
		for _, text := range c.says {
			require.ErrorContains(t, err, text)
		}
		require.NotContains(t, err.Error(), "\n")
	}
}

// Goal: what a bucket has no room to owe is not counted, and is told so: by Observe, and by an
// event admitted under no limit, whose refund takes nothing from those that were charged. With
// WithMaxLimit there is room. Method: a burst that fills its layout.
func TestWhatABucketCannotOweIsUncounted(t *testing.T) {
	l, err := limiter.New(5, time.Second, limiter.WithBurst(5),
		limiter.WithMaxLimit(tallyring.Unlimited))
	require.NoError(t, err)
	most := l.MaxLimit()
	require.NoError(t, l.SetLimit(tallyring.Unlimited))
	first := l.TakeAt("a", start, most)
	second := l.TakeAt("a", start, 1)
	require.Equal(t, start, first.At)
	require.True(t, second.Allowed)
	require.Equal(t, tallyring.Uncounted, second.At)
	require.False(t, l.ObserveAt("a", start, 1))
	l.RefundAt("a", second.At, 1)
	require.Equal(t, most, l.PeekAt("a", start).High)
	l.RefundAt("a", first.At, 1)
	require.Equal(t, most-1, l.PeekAt("a", start).High)
	require.True(t, l.ObserveAt("a", start, 1))

	l, err = limiter.New(5, time.Second, limiter.WithBurst(5), limiter.WithMaxLimit(1000))
	require.NoError(t, err)
	require.True(t, l.ObserveAt("a", start, 1000))
	require.False(t, l.AllowAt("a", start+199*tallyring.Tick(time.Second), 5))
	require.True(t, l.AllowAt("a", start+200*tallyring.Tick(time.Second), 5))
}
