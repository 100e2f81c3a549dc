package limiter_test

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// TestWhatOneLimitDeniesNoOtherCounts is the example of a site of 1000 and a user of 5: one user
// sends 1000 events, and the site is charged for 5 of them, in either order of the demands.
func TestWhatOneLimitDeniesNoOtherCounts(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, userFirst := range []bool{true, false} {
			site, user := k.build(t, 1000), k.build(t, 5)
			demands := []limiter.Demand{{site, site.Key("site")}, {user, user.Key("a")}}
			denier := 1
			if userFirst {
				slices.Reverse(demands)
				denier = 0
			}
			passed := 0
			for range 1000 {
				j := limiter.TakeAll(demands, start, 1)
				if j.Allowed {
					passed++
					require.Equal(t, -1, j.DeniedBy)
					require.Equal(t, uint64(5-passed), j.Remaining)
					require.Equal(t, uint64(5), j.Limit)
					continue
				}
				require.Equal(t, denier, j.DeniedBy)
				require.Equal(t, uint64(5), j.Limit)
				require.Zero(t, j.Remaining)
				require.Equal(t, user.TakeAt("a", start, 1).RetryAfter, j.RetryAfter)
			}
			require.Equal(t, 5, passed)
			require.Equal(t, uint64(5), site.PeekAt("site", start).High)
			require.True(t, limiter.AllowAll([]limiter.Demand{
				{site, site.Key("site")}, {user, user.Key("b")}}, start, 5))
			require.True(t, site.AllowAt("site", start, 990))
			require.False(t, site.AllowAt("site", start, 1))
		}
	})
}

// TestSeveralNamesTheLimitThatDenies walks through rates of 2 per second, 3 per minute and 4 per
// hour: each denies in its turn, with its own time to retry, at which the event passes and 1 ns
// before which it does not.
func TestSeveralNamesTheLimitThatDenies(t *testing.T) {
	rates := []limiter.Rate{{2, time.Second}, {3, time.Minute}, {4, time.Hour}}
	s, err := limiter.NewSeveral(rates, limiter.WithStrictWindow(), limiter.WithKeys(100))
	require.NoError(t, err)
	now := start
	for i, rate := range rates {
		var j limiter.Joint
		for j = s.TakeAt("a", now, 1); j.Allowed; j = s.TakeAt("a", now, 1) {
			require.Zero(t, j.RetryAfter)
		}
		require.Equal(t, i, j.DeniedBy)
		require.Equal(t, rate.Limit, j.Limit)
		require.Zero(t, j.Remaining)
		require.Positive(t, j.RetryAfter)
		require.False(t, s.AllowAt("a", now+tallyring.Tick(j.RetryAfter)-1, 0) &&
			s.TakeAt("a", now+tallyring.Tick(j.RetryAfter)-1, 1).Allowed)
		now += tallyring.Tick(j.RetryAfter)
		require.True(t, s.AllowAt("a", now, 1), "rate %d", i)
	}
}

// TestSeveralRefundsWhatItCounted takes an event back from all rates, and nothing for a denial.
func TestSeveralRefundsWhatItCounted(t *testing.T) {
	s, err := limiter.NewSeveral([]limiter.Rate{{5, time.Second}, {7, time.Minute}})
	require.NoError(t, err)
	key := s.Key("a")
	read := func() (counts [2]uint64) {
		for i, l := range s.Limiters() {
			counts[i] = l.PeekKey(key, start).High
		}
		return counts
	}
	j := s.TakeKey(key, start, 4)
	require.True(t, j.Allowed)
	require.Equal(t, uint64(1), j.Remaining)
	require.Equal(t, [2]uint64{4, 4}, read())
	denied := s.TakeKey(key, start, 2)
	require.False(t, denied.Allowed)
	s.RefundKey(key, denied, 2)
	require.Equal(t, [2]uint64{4, 4}, read())
	s.RefundKey(key, j, 4)
	require.Equal(t, [2]uint64{}, read())
	require.Equal(t, tallyring.Never, s.TakeKey(key, start, 6).RetryAfter)
	require.True(t, s.TakeKey(key, start, 0).Allowed)
	require.Equal(t, [2]uint64{}, read())
}

func TestSeveralRefusesWrongRates(t *testing.T) {
	for _, c := range []struct {
		rates []limiter.Rate
		says  []string
	}{
		{nil, []string{"0 rates", "want 1 to 8"}},
		{make([]limiter.Rate, 9), []string{"9 rates", "want 1 to 8"}},
		{[]limiter.Rate{{1, time.Second}, {2, -time.Second}}, []string{"rate 1", "window is -1s"}},
	} {
		_, err := limiter.NewSeveral(c.rates)
		for _, text := range c.says {
			require.ErrorContains(t, err, text)
		}
		require.NotContains(t, err.Error(), "\n")
	}
	l, err := limiter.New(1, time.Second)
	require.NoError(t, err)
	nine := make([]limiter.Demand, 9)
	for i := range nine {
		nine[i] = limiter.Demand{Limiter: l}
	}
	require.PanicsWithValue(t, "limiter: an event makes 9 demands, want at most 8",
		func() { limiter.TakeAll(nine, start, 1) })
}

func TestSeveralDoesNotAllocate(t *testing.T) {
	s, err := limiter.NewSeveral([]limiter.Rate{{5, time.Second}, {1 << 10, time.Minute}})
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		j := s.TakeAt("a", start, 1)
		s.RefundKey(s.Key("a"), j, 1)
		for s.AllowAt("b", start, 1) {
		}
	}))
}

// TestSeveralUnderContention lets 64 goroutines send a million events of few keys through three
// strict rates, while time goes on. No trailing window of a rate ever holds more than its limit,
// by the ticks as counted; and at rest each limiter counts what was admitted, so nothing that was
// denied is left counted, and no charge was taken back twice.
func TestSeveralUnderContention(t *testing.T) {
	const keys, workers = 4, 64
	events, stepNanos := 1_000_000, int64(5000)
	if testing.Short() { // as much time in fewer events
		events, stepNanos = events/10, stepNanos*10
	}
	rates := []limiter.Rate{
		{40, 10 * time.Millisecond}, {300, 100 * time.Millisecond}, {2000, time.Second},
	}
	s, err := limiter.NewSeveral(rates, limiter.WithStrictWindow(), limiter.WithKeys(keys))
	require.NoError(t, err)
	names := []string{"a", "b", "c", "d"}
	var clock atomic.Int64
	clock.Store(int64(start))
	admitted := make([][keys][3][]tallyring.Tick, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for range events / workers {
				now := tallyring.Tick(clock.Add(random.Int64N(stepNanos)))
				key := random.IntN(keys)
				j := s.TakeAt(names[key], now, 1)
				if !j.Allowed {
					continue
				}
				for i := range rates {
					ticks := &admitted[worker][key][i]
					*ticks = append(*ticks, j.CountedAt(i))
				}
			}
		})
	}
	group.Wait()
	end := tallyring.Tick(clock.Load())
	for key := range keys {
		for i, rate := range rates {
			var ticks []tallyring.Tick
			for worker := range workers {
				ticks = append(ticks, admitted[worker][key][i]...)
			}
			slices.Sort(ticks)
			require.Greater(t, len(ticks), int(rates[2].Limit), "events of key %d", key)
			requireWithin(t, ticks, rate)
			// What the two buckets of the rate count is what was admitted in them.
			width := tallyring.Tick(rate.Window)
			first := max(ticks[len(ticks)-1], end)/width*width - width
			from, _ := slices.BinarySearch(ticks, first)
			require.Equal(t, uint64(len(ticks)-from),
				s.Limiters()[i].PeekAt(names[key], end).High, "rate %d", i)
		}
	}
}

// requireWithin checks every interval (t-W, t] that ends with an event.
func requireWithin(t *testing.T, ticks []tallyring.Tick, rate limiter.Rate) {
	t.Helper()
	first := 0
	for last := range ticks {
		for ticks[last]-ticks[first] >= tallyring.Tick(rate.Window) {
			first++
		}
		if count := last - first + 1; count > int(rate.Limit) {
			t.Fatalf("%d events within %v up to tick %d, want at most %d",
				count, rate.Window, ticks[last], rate.Limit)
		}
	}
}

// Goal: every verb and form of key of Several is that of its limiters.
func TestVerbsOfSeveral(t *testing.T) {
	clock := &tallyring.ManualClock{}
	clock.Set(start)
	s, err := limiter.NewSeveral([]limiter.Rate{{4, time.Second}, {6, time.Minute}},
		limiter.WithClock(clock), limiter.WithIPv6Prefix(56))
	require.NoError(t, err)
	l := s.Limiters()[1]
	require.Equal(t, l.Key("a"), s.KeyBytes([]byte("a")))
	require.Equal(t, l.KeyParts("a", "b"), s.KeyParts("a", "b"))
	one, other := netip.MustParseAddr("2001:db8:0:101::1"), netip.MustParseAddr("2001:db8:0:1ff::")
	require.Equal(t, l.KeyAddr(one), s.KeyAddr(other))

	require.True(t, s.AllowN("a", 3))
	require.False(t, s.AllowN("a", 2))
	require.NoError(t, s.WaitN(t.Context(), "a", 1))
	r := s.Reserve("a", 2)
	require.Equal(t, 1, s.Waiting())
	require.Zero(t, l.Stats().Waiting)
	clock.Advance(2 * time.Second)
	d, err := r.Result()
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.Zero(t, s.Waiting())
	require.Equal(t, uint64(6), l.PeekAt("a", clock.Now()).High)
	require.ErrorContains(t, s.WaitN(t.Context(), "a", 5), "cost 5 can never pass under limit 4")
	require.NoError(t, s.SetLimit(0, 0))
	require.ErrorContains(t, s.WaitN(t.Context(), "a", 1), "under limit 0, want a limit")

	_, err = limiter.NewSeveral([]limiter.Rate{{4, time.Second}, {6, 0}})
	require.EqualError(t, err,
		"limiter: rate 1, 6 per 0s: window is 0s, want more than 0")
}
