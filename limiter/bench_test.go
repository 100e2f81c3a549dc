package limiter_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// plenty is a limit that a benchmark does not reach in the spans between the ticks that it gives.
const plenty = 1 << 30

// benched returns a limiter whose clock stands at start, as ticks of one clock should be given.
func benched(b *testing.B, k kind, limit uint64, opts ...limiter.Option) *limiter.Limiter {
	b.Helper()
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	return k.build(b, limit, append(opts, limiter.WithClock(clock))...)
}

// requireCounted fails unless the limiter has counted what the benchmark did, so that the work was
// not left out.
func requireCounted(b *testing.B, l *limiter.Limiter, key string, now tallyring.Tick, want int) {
	b.Helper()
	require.EqualValues(b, want, l.PeekAt(key, now).High)
}

// BenchmarkAllow decides on one hot key given as text, at a manual clock.
func BenchmarkAllow(b *testing.B) {
	for _, k := range kinds {
		b.Run("window="+k.name, func(b *testing.B) {
			l := benched(b, k, plenty)
			b.ReportAllocs()
			passed := 0
			for b.Loop() {
				if l.Allow("client-1") {
					passed++
				}
			}
			requireCounted(b, l, "client-1", start, passed)
		})
	}
}

// BenchmarkAllowClock is BenchmarkAllow at the clock that a limiter has unless told otherwise.
func BenchmarkAllowClock(b *testing.B) {
	l, err := limiter.New(plenty, tallyring.MaxLength)
	require.NoError(b, err)
	b.ReportAllocs()
	passed := 0
	for b.Loop() {
		if l.Allow("client-1") {
			passed++
		}
	}
	requireCounted(b, l, "client-1", tallyring.Monotonic().Now(), passed)
}

// BenchmarkAllowKey decides on one hot key that is hashed already, at a given tick.
func BenchmarkAllowKey(b *testing.B) {
	for _, k := range kinds {
		b.Run("window="+k.name, func(b *testing.B) {
			l := benched(b, k, plenty)
			key := l.Key("client-1")
			passed := 0
			b.ReportAllocs()
			for b.Loop() {
				if l.AllowKey(key, start, 1) {
					passed++
				}
			}
			requireCounted(b, l, "client-1", start, passed)
		})
	}
}

// BenchmarkAllowKeyPacked is BenchmarkAllowKey in the form that a cell of two buckets has unless a
// larger limit is asked for: the bucket turns before the count is full.
func BenchmarkAllowKeyPacked(b *testing.B) {
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	l := kinds[1].build(b, 1<<18, limiter.WithClock(clock))
	key := l.Key("client-1")
	now, passed, calls := start, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		if calls++; calls&(1<<16-1) == 0 {
			now = clock.Advance(window)
		}
		if l.AllowKey(key, now, 1) {
			passed++
		}
	}
	require.Equal(b, calls, passed)
}

// BenchmarkDenied decides on one hot key that is over its limit.
func BenchmarkDenied(b *testing.B) {
	for _, k := range kinds {
		b.Run("window="+k.name, func(b *testing.B) {
			l := benched(b, k, 10)
			key := l.Key("client-1")
			require.Equal(b, 10, admitted(l, "client-1", start, 20))
			denied, calls := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				calls++
				if !l.AllowKey(key, start, 1) {
					denied++
				}
			}
			require.Equal(b, calls, denied)
			requireCounted(b, l, "client-1", start, 10)
		})
	}
}

// BenchmarkTake asks for the whole answer on one hot key.
func BenchmarkTake(b *testing.B) {
	for _, k := range kinds {
		b.Run("window="+k.name, func(b *testing.B) {
			l := benched(b, k, plenty)
			key := l.Key("client-1")
			var last tallyring.Decision
			passed := 0
			b.ReportAllocs()
			for b.Loop() {
				if last = l.TakeKey(key, start, 1); last.Allowed {
					passed++
				}
			}
			require.EqualValues(b, plenty-passed, last.Remaining)
		})
	}
}

// BenchmarkKeys decides on many keys given as text that all have a cell, in an order that no
// prefetcher guesses.
func BenchmarkKeys(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		b.Run("keys="+strconv.Itoa(n), func(b *testing.B) {
			l := benched(b, kinds[1], 1<<16-1, limiter.WithKeys(n))
			texts := make([]string, n)
			for i := range texts {
				texts[i] = "client-" + strconv.Itoa(i*7919%n)
				require.True(b, l.AllowAt(texts[i], start, 1))
			}
			i, passed, calls := 0, 0, 0
			now := start
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				calls++
				if l.AllowAt(texts[i], now, 1) {
					passed++
				}
				if i++; i == n {
					i, now = 0, now+tallyring.Tick(window)/1000
				}
			}
			require.Equal(b, calls, passed)
			require.EqualValues(b, n, l.StatsAt(now).Live)
		})
	}
}

// BenchmarkFlood decides on new keys that find no cell.
func BenchmarkFlood(b *testing.B) {
	for _, k := range kinds {
		b.Run("window="+k.name, func(b *testing.B) {
			l := benched(b, k, 10, limiter.WithKeys(10_000))
			for i := range 40_000 {
				l.AllowKey(limiter.Key(i)*0x9e3779b97f4a7c15, start, 1)
			}
			before := l.StatsAt(start).Refused
			calls := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				calls++
				l.AllowKey(limiter.Key(calls+40_000)*0x9e3779b97f4a7c15, start, 1)
			}
			require.Equal(b, before+calls, l.StatsAt(start).Refused)
		})
	}
}
