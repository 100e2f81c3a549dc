package gcra

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Faults that limiters of this kind have had in public, each with the right value and with the
// neighbours in kind that the same mistake would break.

const second = tallyring.Tick(time.Second)

func bucket(t testing.TB, events uint64, per time.Duration, burst uint64) *Bucket {
	t.Helper()
	b, err := New(events, per, burst)
	require.NoError(t, err)
	return b
}

// passing returns how many of n events of cost 1 pass.
func passing(b *Bucket, n int, now tallyring.Tick) (passed int) {
	for range n {
		if b.Allow(now, 1) {
			passed++
		}
	}
	return passed
}

// One a second with a slack of one, which is a burst of two: after two idle seconds two pass at
// once, and then one a second, however many ask. The wrong answer is all of them at once.
func TestTrapNoLimitAfterIdle(t *testing.T) {
	b := bucket(t, 1, time.Second, 2)
	require.True(t, b.Allow(0, 1))
	schedule, want := []tallyring.Tick{0}, []tallyring.Tick{0, 2 * second}
	now := 2 * second
	for i := range tallyring.Tick(24) {
		d := b.Take(now, 1)
		if !d.Allowed {
			require.False(t, b.Allow(now+tallyring.Tick(d.RetryAfter)-1, 1))
			now += tallyring.Tick(d.RetryAfter)
			d = b.Take(now, 1)
		}
		require.True(t, d.Allowed)
		schedule = append(schedule, now)
		if i > 0 {
			want = append(want, (i+1)*second)
		}
	}
	require.Equal(t, want, schedule, "0, 2, 2, 3, 4 ...")
}

// 980,000,000 per 10 s, drained, are full again after 10 s, and not a nanosecond before; nor do
// longer idle times overflow.
func TestTrapOverflow(t *testing.T) {
	const burst = 980_000_000
	for _, idle := range []tallyring.Tick{10 * second, 10*second + 1, 36_000 * second,
		tallyring.Tick(tallyring.MaxLength), 1 << 32, 1 << 53} {
		for _, from := range []tallyring.Tick{0, 1, 1767225600e9} {
			b := bucket(t, burst, 10*time.Second, burst)
			require.True(t, b.Allow(from, burst))
			require.False(t, b.Allow(from, 1))
			require.Less(t, b.Take(from+min(idle, 10*second)-1, 0).Remaining, uint64(burst))
			if idle >= 10*second {
				require.Equal(t, uint64(burst), b.Take(from+idle, 0).Remaining, "idle %d", idle)
				require.Zero(t, b.Read(from+idle))
				require.True(t, b.Allow(from+idle, burst))
				require.False(t, b.Allow(from+idle, 1))
			}
		}
	}
}

// A late tick never finds a budget that the newest tick does not have: 10 a second, full at 10 s,
// then 1000 times a call at 9 s and one at 10 s. Nor do ticks late by a nanosecond, by many spans,
// or before all time.
func TestTrapLateTick(t *testing.T) {
	for _, late := range []tallyring.Tick{
		9 * second, 10*second - 1, 10 * second, 5 * second, 1, 0, -1, math.MinInt64,
	} {
		b, passed := bucket(t, 10, time.Second, 10), 0
		for range 1000 {
			passed += passing(b, 1, 10*second)
			passed += passing(b, 1, late)
		}
		require.Equal(t, 10, passed, "late tick %d", late)
		require.Equal(t, uint64(10), b.Read(10*second).High)
	}
}

// A tick before all time is tick 0, even if its bits look like those of the end of the word's span,
// where all is paid for.
func TestTrapNegativeTick(t *testing.T) {
	b := bucket(t, 1, time.Second, 1)
	span := tallyring.Tick(b.rate.Span())
	require.Greater(t, span, second+5)
	require.True(t, b.Allow(span+5, 1))
	alike := 2*span - 1 + math.MinInt64
	for _, tick := range []tallyring.Tick{alike, alike + 1<<62, -1, math.MinInt64} {
		require.False(t, b.Allow(tick, 1), "tick %d", tick)
		require.False(t, b.Take(tick, 1).Allowed, "tick %d", tick)
	}
	require.True(t, b.Allow(2*span-1, 1))
}

// Late ticks mint nothing, wherever they come: of two buckets that are drained at one tick, one is
// then asked for all it has at the newest tick, and the other at late ticks too. By no tick has the
// other admitted more.
func TestTrapLateTicksMintNothing(t *testing.T) {
	for _, c := range []shape{{10, time.Second, 10}, {17, time.Second, 4}, {3, time.Minute, 5}} {
		b := bucket(t, c.events, c.per, c.burst)
		steady := bucket(t, c.events, c.per, c.burst)
		rng := rand.New(rand.NewPCG(rand.Uint64(), c.events))
		now, late := 1000*second, 0
		got, most := passing(b, 100, now), passing(steady, 100, now)
		for range rounds(10_000) {
			now += tallyring.Tick(rng.Int64N(int64(c.per)) / int64(c.events))
			at := now
			if rng.IntN(2) == 0 {
				at -= tallyring.Tick(rng.Int64N(int64(c.per) * 20))
			}
			if b.Allow(at, 1) {
				got++
				if at < now {
					late++
				}
			}
			most += passing(steady, int(c.burst), now) // takes all there is
			require.LessOrEqual(t, got, most, "%+v at %d", c, now)
		}
		require.Positive(t, late, "%+v: no late event was admitted", c)
	}
}

// Events read at ticks that wrap in fewer bits, or at which the signed half of some range ends, are
// still owed, or paid for, whatever is right.
func TestTrapTickWrap(t *testing.T) {
	const ms = tallyring.Tick(time.Millisecond)
	for _, gap := range []tallyring.Tick{1 << 31, 1 << 32, ms << 31, ms << 32, 1 << 52} {
		for _, from := range []tallyring.Tick{0, 5, 1767225600e9} {
			b := bucket(t, 7, time.Duration(gap)*2, 14)
			require.Equal(t, 7, passing(b, 7, from))
			require.Equal(t, uint64(4), b.Read(from+gap).High, "half of 7 is paid")
			require.Equal(t, uint64(3), b.Read(from+gap).Low)
			require.Zero(t, b.Read(from+2*gap))
		}
	}
}

// A bucket that was charged, and is asked ten years later, is full; and one that owes for ten years
// denies until then.
func TestTrapTenYears(t *testing.T) {
	for _, s := range shapes {
		b := bucket(t, s.events, s.per, s.burst)
		for _, from := range []tallyring.Tick{0, 12345, 1767225600e9} {
			require.True(t, b.Allow(from, s.burst), "%+v", s)
			later := from + tallyring.Tick(tallyring.MaxLength)
			require.Zero(t, b.Read(later), "%+v", s)
			require.True(t, b.Take(later, s.burst).Allowed, "%+v", s)
			require.False(t, b.Allow(from, 1), "%+v: ten years late", s)
			b = bucket(t, s.events, s.per, s.burst)
		}
	}
	b := bucket(t, 1, tallyring.MaxLength, 1)
	require.True(t, b.Allow(7, 1))
	d := b.Take(7, 1)
	require.Equal(t, tallyring.MaxLength, d.RetryAfter)
	require.False(t, b.Allow(7+tallyring.Tick(d.RetryAfter)-1, 1))
	require.True(t, b.Allow(7+tallyring.Tick(d.RetryAfter), 1))
}

// The last tick of all works as any other.
func TestTrapLastTick(t *testing.T) {
	for _, s := range shapes {
		b := bucket(t, s.events, s.per, s.burst)
		require.True(t, b.Allow(math.MaxInt64-1, s.burst), "%+v", s)
		d := b.Take(math.MaxInt64-1, s.burst)
		require.False(t, d.Allowed, "%+v", s)
		require.Positive(t, d.RetryAfter, "%+v", s)
		require.Less(t, d.RetryAfter, tallyring.Never, "%+v", s)
		require.LessOrEqual(t, b.Read(math.MaxInt64).High, s.burst, "%+v", s)
		late := b.Take(math.MaxInt64-tallyring.Tick(tallyring.MaxLength), 0)
		require.GreaterOrEqual(t, late.At, math.MaxInt64-tallyring.Tick(b.rate.Span()),
			"%+v: a late event counts in the word's span", s)

		// So far apart nothing is promised but sense.
		far := bucket(t, s.events, s.per, s.burst)
		for _, tick := range []tallyring.Tick{0, 1 << 60, 1 << 61, 1 << 62, math.MaxInt64} {
			far.Add(tick, s.burst)
			d := far.Take(math.MaxInt64, 1)
			require.Equal(t, tallyring.Tick(math.MaxInt64), d.At)
			require.GreaterOrEqual(t, min(d.RetryAfter, d.ResetAfter), time.Duration(0))
			require.Less(t, max(d.RetryAfter, d.ResetAfter), tallyring.Never)
		}
	}
}

// A denied event is not charged: with 10, a cost of 8, one of 5, and one of 1 leave 1.
func TestTrapDeniedEventCharged(t *testing.T) {
	b := bucket(t, 10, time.Second, 10)
	require.True(t, b.Allow(5, 8))
	word := b.word.Load()
	require.False(t, b.Allow(5, 5))
	require.False(t, b.Take(5, 3).Allowed)
	require.Equal(t, word, b.word.Load())
	d := b.Take(5, 1)
	require.True(t, d.Allowed)
	require.Equal(t, uint64(1), d.Remaining)
}

// A cost above the burst can never pass, and says so; a cost of 0 asks and changes nothing; a burst
// of 0 denies everything, a burst of 1 with a cost of 1 does not.
func TestTrapCosts(t *testing.T) {
	b := bucket(t, 3, time.Second, 3)
	const wraps = math.MaxUint64/1_000_000_000 + 2 // costs so little, modulo 2^64 units
	for _, cost := range []uint64{4, 1 << 32, 1 << 60, wraps, math.MaxUint64} {
		require.False(t, b.Allow(9, cost), "cost %d", cost)
		d := b.Take(9, cost)
		require.Equal(t, tallyring.Decision{Limit: 3, Remaining: 3, At: 9,
			RetryAfter: tallyring.Never}, d, "cost %d", cost)
	}
	require.True(t, b.Allow(9, 0))
	require.Zero(t, b.word.Load(), "a peek writes nothing")
	require.True(t, b.Allow(9, 3))
	require.True(t, b.Allow(9, 0), "a bucket that is empty but owes nothing passes a cost of 0")
	b.Add(9, 1)
	require.False(t, b.Allow(9, 0), "one in debt does not")
	require.Positive(t, b.Take(9, 0).RetryAfter)

	none := bucket(t, 3, time.Second, 0)
	for _, cost := range []uint64{0, 1, math.MaxUint64} {
		require.False(t, none.Allow(9, cost))
		require.Equal(t, tallyring.Never, none.Take(9, cost).RetryAfter)
	}
}

// A burst that is raised makes room at once, one that is lowered denies at once, and the same again
// refills nothing.
func TestTrapBurstChanged(t *testing.T) {
	r := shape{15, time.Second, 1500}.rate(t)
	word, ok := r.Next(0, 5, 2, 15)
	require.True(t, ok)
	_, ok = r.Next(word, 5, 1400, 15)
	require.False(t, ok)
	raised, ok := r.Next(word, 5, 1400, 1500)
	require.True(t, ok)
	_, lowered := r.Take(raised, 5, 1, 10)
	require.False(t, lowered.Allowed)
	require.Zero(t, lowered.Remaining)
	require.Equal(t, (1402+1-10)*time.Second/15+1, lowered.RetryAfter)

	spent, ok := r.Next(0, 5, 10, 10)
	require.True(t, ok)
	_, again := r.Take(spent, 5, 1, 10)
	require.False(t, again.Allowed)
}

// What is charged without asking, or under no limit, ends at MaxBurst, which no burst admits
// anything beyond; it neither wraps nor reaches into the index.
func TestTrapSaturation(t *testing.T) {
	for _, s := range shapes {
		for _, count := range []uint64{1, s.burst, math.MaxUint64, math.MaxUint64 / s.burst} {
			r := s.rate(t)
			word, all := uint64(0), true
			for range 3 {
				index := r.Index(1e18)
				word, _ = r.Add(word, 1e18, count)
				unlimited, ok := r.Next(word, 1e18, count, tallyring.Unlimited)
				require.True(t, ok)
				require.Equal(t, index, unlimited>>r.IndexShift(), "%+v", s)
				word, all = r.Add(unlimited, 1e18, r.maxBurst)
				require.False(t, all)
			}
			require.Equal(t, r.maxBurst, r.Read(word, 1e18).High, "%+v", s)
			require.Equal(t, r.maxBurst, r.Read(word, 1e18).Low, "%+v", s)
			for _, burst := range []uint64{1, s.burst, r.MaxBurst(), tallyring.Unlimited - 1} {
				_, ok := r.Next(word, 1e18, 1, burst)
				require.False(t, ok, "%+v, burst %d", s, burst)
			}
			// A larger burst decides as the largest, and its Limit says so.
			_, d := r.Take(0, 1e18, r.MaxLimit(), tallyring.Unlimited-1)
			require.True(t, d.Allowed)
			require.Equal(t, r.MaxLimit(), d.Limit)
			b := bucket(t, s.events, s.per, s.burst)
			require.LessOrEqual(t, b.Burst(), b.MaxBurst())
			require.False(t, b.Allow(1e18, b.Burst()+1))
			require.Equal(t, b.MaxBurst() > b.Burst(), b.Add(1e18, b.Burst()+1))
		}
	}
}

// A refund gives back what was taken and no more: not twice the same, not what time has paid for,
// not more than was owed, and not what another span ago was charged. It makes no tick late.
func TestRefund(t *testing.T) {
	b := bucket(t, 1, time.Second, 10)
	const start = 100 * second
	d := b.Take(start, 4)
	b.Allow(start+1, 3)
	b.Refund(d.At, 4)
	require.Equal(t, uint64(3), b.Read(start+1).High)
	b.Refund(d.At, 0)
	require.Equal(t, uint64(3), b.Read(start+1).High)
	b.Refund(start+1, math.MaxUint64)
	require.Zero(t, b.Read(start+1), "no more than was owed")
	word := b.word.Load()
	b.Refund(d.At, 1)
	b.Refund(d.At, 1<<63)
	require.Equal(t, start, tallyring.Tick(b.word.Load()&(b.rate.newer-1))+
		start>>b.rate.spanBits<<b.rate.spanBits, "never due before the tick that is named")
	require.Equal(t, word>>b.rate.IndexShift(), b.word.Load()>>b.rate.IndexShift())

	b.Refund(0, 5)
	b.Refund(start+1000*second, 5)
	fresh := bucket(t, 1, time.Second, 10)
	fresh.Refund(start, 5)
	require.Zero(t, fresh.word.Load(), "nothing was charged")

	span := tallyring.Tick(b.rate.Span())
	for spans := range tallyring.Tick(4) {
		b = bucket(t, 1, time.Second, 10)
		at := b.Take(5, 1).At
		for now := tallyring.Tick(5); now <= 5+spans*span; now += second {
			b.Add(now, 1) // as fast as it refills
		}
		b.Add(5+spans*span, 1)
		before := b.Read(5 + spans*span).High
		b.Refund(at, 1)
		require.Equal(t, spans < 2, b.Read(5+spans*span).High < before, "%d spans later", spans)
	}
}

// An event that was late is counted in the span of the newest, and a refund that names Decision.At
// finds it there.
func TestRefundOfLateEvent(t *testing.T) {
	b := bucket(t, 1, time.Second, 10)
	newest := 1000*tallyring.Tick(b.rate.Span()) + 7
	b.Allow(newest, 2)
	d := b.Take(5*second, 3)
	require.True(t, d.Allowed)
	require.Equal(t, newest-7, d.At)
	require.Equal(t, uint64(5), b.Read(newest).High)
	b.Refund(5*second, 3)
	require.Equal(t, uint64(5), b.Read(newest).High, "5 s is not where it was counted")
	b.Refund(d.At, 3)
	require.Equal(t, uint64(2), b.Read(newest).High)
}
