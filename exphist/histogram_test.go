package exphist

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

const second = tallyring.Tick(time.Second)

func mustNew(t testing.TB, length time.Duration, eps float64, most uint64, o ...Option) *Histogram {
	t.Helper()
	h, err := New(length, eps, most, o...)
	require.NoError(t, err)
	return h
}

// allowTimes returns how many of n events of cost 1 pass at now.
func allowTimes(h *Histogram, n int, now tallyring.Tick, limit uint64) (passed int) {
	for range n {
		if h.Allow(now, 1, limit) {
			passed++
		}
	}
	return passed
}

// Goal: an argument that makes no histogram is refused by one line that names it and what would be
// right.
// Method: the values next to each end of each range, and the whole messages.
func TestConstructorsRefuseArguments(t *testing.T) {
	wantLength := ", want more than 0 and at most 87672h0m0s"
	wantEps := ", want a relative error above 0 and at most 1, such as 0.1"
	wantMost := ", want the largest count to be told apart, 1 to 4611686018427387904"
	wantEvents := " events, want 1 to 1152921504606846976"
	for _, c := range []struct {
		length time.Duration
		events uint64
		eps    float64
		most   uint64
		want   string
	}{
		{0, 1, 0.1, 1, "exphist: length is 0s" + wantLength},
		{-1, 1, 0.1, 1, "exphist: length is -1ns" + wantLength},
		{tallyring.MaxLength + 1, 1, 0.1, 1,
			"exphist: length is 87672h0m0.000000001s" + wantLength},
		{1, 0, 0.1, 1, "exphist: window of the last 0" + wantEvents},
		{1, MaxEvents + 1, 0.1, 1, "exphist: window of the last 1152921504606846977" + wantEvents},
		{1, 1, 0, 1, "exphist: eps is 0" + wantEps},
		{1, 1, -0.1, 1, "exphist: eps is -0.1" + wantEps},
		{1, 1, math.Nextafter(1, 2), 1, "exphist: eps is 1.0000000000000002" + wantEps},
		{1, 1, math.NaN(), 1, "exphist: eps is NaN" + wantEps},
		{1, 1, math.Inf(1), 1, "exphist: eps is +Inf" + wantEps},
		{1, 1, 0.1, 0, "exphist: most is 0" + wantMost},
		{1, 1, 0.1, MaxCount + 1, "exphist: most is 4611686018427387905" + wantMost},
		{1, 1, 1e-9, MaxCount, "exphist: eps 1e-09 with counts up to 4611686018427387904 takes " +
			"more than 128 MiB, want a larger eps or a lower most"},
		{1, 1, 5e-324, 1 << 40, "exphist: eps 5e-324 with counts up to 1099511627776 takes " +
			"more than 128 MiB, want a larger eps or a lower most"},
	} {
		var errs []error
		if c.events == 1 {
			_, err := New(c.length, c.eps, c.most)
			errs = append(errs, err)
		}
		if c.length == 1 {
			_, err := NewEvents(c.events, c.eps, c.most)
			errs = append(errs, err)
		}
		for _, err := range errs {
			assert.EqualError(t, err, c.want)
		}
	}
}

// Goal: what a constructor is given can be asked for.
// Method: the ends of the ranges that are accepted.
func TestConstructorsKeepTheirArguments(t *testing.T) {
	for _, length := range []time.Duration{1, time.Minute, tallyring.MaxLength} {
		h := mustNew(t, length, 1, MaxCount)
		assert.Equal(t, length, h.Length())
		assert.Equal(t, MaxCount, h.MaxLimit())
	}
	for _, events := range []uint64{1, 1000, MaxEvents} {
		e, err := NewEvents(events, 5e-324, 10)
		require.NoError(t, err)
		assert.Equal(t, events, e.Events())
		assert.Equal(t, uint64(10), e.MaxLimit())
	}
}

// Goal: an event counts at exactly the ticks t-W < e <= t, at every gap where windows go wrong.
// Method: one event, then readings and decisions around W, far gaps, and the last tick.
func TestIdleGapsReadRight(t *testing.T) {
	const w = 10 * second
	for _, c := range []struct {
		gap  tallyring.Tick
		want uint64
	}{
		{0, 1}, {1, 1}, {w - 1, 1}, {w, 0}, {w + 1, 0}, {2 * w, 0}, {1 << 34, 0}, {1 << 35, 0},
		{tallyring.Tick(10 * time.Hour), 0}, {tallyring.Tick(tallyring.MaxLength), 0},
		{1 << 31 * 1e6, 0}, {1 << 32 * 1e6, 0}, {math.MaxInt64 - 5*second, 0},
	} {
		h := mustNew(t, time.Duration(w), 0.1, 100)
		require.True(t, h.Allow(5*second, 1, 1))
		assert.Equal(t, c.want, h.Read(5*second+c.gap).High, "gap %d", c.gap)
		assert.Equal(t, float64(c.want), h.Estimate(5*second+c.gap), "gap %d", c.gap)
		assert.Equal(t, c.want == 0, h.Allow(5*second+c.gap, 1, 1), "gap %d", c.gap)
	}
}

// Goal: the oldest bucket counts until its end leaves the window, and not one nanosecond longer.
// Method: eps 0.5 keeps one or two buckets of a size; four events at ticks 10 to 13 make buckets
// {2, ends 11}, {1, 12}, {1, 13}, which are read around each instant at which one leaves.
func TestOldestBucketLeavesWithItsEnd(t *testing.T) {
	h := mustNew(t, 100, 0.5, 100)
	for now := range tallyring.Tick(4) {
		h.Add(10+now, 1)
	}
	require.Equal(t, []modelBucket{{11, 2}, {12, 1}, {13, 1}}, h.held())
	for _, c := range []struct {
		now  tallyring.Tick
		want tallyring.Reading
	}{
		{13, tallyring.Reading{Low: 3, Estimate: 3.5, High: 4}},
		{109, tallyring.Reading{Low: 3, Estimate: 3.5, High: 4}},
		{110, tallyring.Reading{Low: 3, Estimate: 3.5, High: 4}}, // 3 are left
		{111, tallyring.Reading{Low: 2, Estimate: 2, High: 2}},
		{112, tallyring.Reading{Low: 1, Estimate: 1, High: 1}},
		{113, tallyring.Reading{}},
		{50, tallyring.Reading{Low: 3, Estimate: 3.5, High: 4}}, // reading forgot nothing
	} {
		assert.Equal(t, c.want, h.Read(c.now), "at %d", c.now)
	}
}

// Goal: a burst at one tick leaves the window at one tick, whatever it was merged with.
// Method: a burst of 2^33 at once and one of single events, with a few events before and after.
func TestBurstsLeaveWhole(t *testing.T) {
	for _, eps := range []float64{0.5, 0.1, 0.01} {
		h := mustNew(t, time.Second, eps, 1<<40)
		h.Add(1000, 3)
		h.Add(2000, 1<<33)
		for range 5000 {
			h.Add(2000, 1)
		}
		h.Add(3000, 1)
		at := func(e tallyring.Tick) tallyring.Tick { return e + second }
		const burst = 1<<33 + 5000
		for _, c := range []struct {
			now  tallyring.Tick
			want uint64
		}{
			{3000, burst + 4}, {at(1000) - 1, burst + 4}, {at(1000), burst + 1},
			{at(2000) - 1, burst + 1},
		} {
			assert.Empty(t, misses(h.Read(c.now), c.want, eps), "eps %v at %d", eps, c.now)
		}
		assert.Equal(t, tallyring.Reading{Low: 1, Estimate: 1, High: 1}, h.Read(at(2000)))
		assert.Zero(t, h.Read(at(3000)))
	}
}

// Goal: a caller whose clock lags gets no budget of its own, and lowers nothing.
// Method: the trap's numbers: full at 10 s, then 1000 times at 9 s and at 10 s; then late Adds.
func TestLateTickMintsNothing(t *testing.T) {
	h := mustNew(t, time.Second, 0.1, 1000)
	passed := allowTimes(h, 10, 10*second, 10)
	for range 1000 {
		passed += allowTimes(h, 1, 9*second, 10) + allowTimes(h, 1, 10*second, 10)
	}
	passed += allowTimes(h, 1, -5, 10)
	assert.Equal(t, 10, passed+allowTimes(h, 100, 10*second, 10))

	before := h.Read(10 * second)
	h.Add(3*second, 1)
	h.Add(-5, 1)
	after := h.Read(10 * second)
	assert.Equal(t, before.High+2, after.High, "late events count at the newest tick")
	assert.GreaterOrEqual(t, after.Low, before.Low)
	assert.Equal(t, after, h.Read(4*second), "a late reading is one at the newest tick")
	assert.Equal(t, 10*second, h.Take(9*second, 1, 100).At)
}

// Goal: what is denied changes nothing, and neither does a peek or a reading.
// Method: the trap's numbers, L = 10: cost 8, cost 5 (denied), cost 1; then compare the whole state
// across denials, peeks and readings far in the future.
func TestDenialsAndPeeksChangeNothing(t *testing.T) {
	h := mustNew(t, time.Second, 0.1, 1000)
	require.True(t, h.Allow(0, 8, 10))
	require.False(t, h.Allow(0, 5, 10))
	d := h.Take(0, 1, 10)
	require.True(t, d.Allowed)
	require.Equal(t, uint64(1), d.Remaining)

	state, words := h.buckets, slices.Concat(h.ends.words, h.rings.words)
	for _, now := range []tallyring.Tick{0, 1, second - 1, second, 100 * second, math.MaxInt64} {
		h.Allow(now, 0, 10)
		h.Take(now, 0, 0)
		h.Allow(now, 11, 10)
		h.Take(now, 1, 0)
		h.Read(now)
		h.Estimate(now)
	}
	h.Allow(second-1, 2, 10)
	h.Add(5, 0)
	assert.Equal(t, state, h.buckets)
	assert.Equal(t, words, slices.Concat(h.ends.words, h.rings.words))
}

// Goal: the edges of cost and limit: above the limit is Never, cost 0 is a peek, limit 0 denies, a
// limit above most decides as most.
// Method: one row each, with the whole decision.
func TestEdgesOfCostAndLimit(t *testing.T) {
	const never = tallyring.Never
	for _, c := range []struct {
		name        string
		have        uint64
		cost, limit uint64
		want        tallyring.Decision
	}{
		{"cost above limit", 0, 4, 3,
			tallyring.Decision{Limit: 3, Remaining: 3, RetryAfter: never}},
		{"cost at limit", 0, 3, 3, tallyring.Decision{Allowed: true, Limit: 3, ResetAfter: 10}},
		{"limit 0", 0, 1, 0, tallyring.Decision{RetryAfter: never}},
		{"limit 0, cost 0", 0, 0, 0, tallyring.Decision{RetryAfter: never}},
		{"peek, full", 3, 0, 3, tallyring.Decision{Allowed: true, Limit: 3, ResetAfter: 10}},
		{"peek, empty", 0, 0, 3, tallyring.Decision{Allowed: true, Limit: 3, Remaining: 3}},
		{"peek, over", 4, 0, 3, tallyring.Decision{Limit: 3, RetryAfter: 10, ResetAfter: 10}},
		{"denied leaves 0", 3, 1, 3, tallyring.Decision{Limit: 3, RetryAfter: 10, ResetAfter: 10}},
		{"limit above most", 90, 10, 101,
			tallyring.Decision{Allowed: true, Limit: 100, ResetAfter: 10}},
		{"cost above most", 0, 101, 101,
			tallyring.Decision{Limit: 100, Remaining: 100, RetryAfter: never}},
		{"unlimited", 100, 7, tallyring.Unlimited, tallyring.Decision{Allowed: true,
			Limit: tallyring.Unlimited, Remaining: tallyring.Unlimited, ResetAfter: 10}},
	} {
		for _, option := range [][]Option{nil, {WithEstimate()}} {
			h := mustNew(t, 10, 0.005, 100, option...)
			h.Add(7, c.have)
			c.want.At = 7
			assert.Equal(t, c.want, h.Take(7, c.cost, c.limit), c.name)
			h = mustNew(t, 10, 0.005, 100, option...)
			h.Add(7, c.have)
			assert.Equal(t, c.want.Allowed, h.Allow(7, c.cost, c.limit), c.name)
		}
	}
}

// Goal: a limit acts at once, and the same limit again refills nothing.
// Method: the traps' numbers: 2 of 15 used, raised 100-fold; 10 of 10 spent, limited to 10 again.
func TestLimitIsAnArgument(t *testing.T) {
	h := mustNew(t, time.Minute, 0.1, 10_000)
	require.Equal(t, 2, allowTimes(h, 2, 1, 15))
	require.Equal(t, 1498, allowTimes(h, 2000, 1, 1500), "all at one tick: nothing is estimated")
	require.Equal(t, 0, allowTimes(h, 5, 2, 15), "lowered again")

	h = mustNew(t, time.Minute, 0.1, 10_000)
	require.Equal(t, 10, allowTimes(h, 10, 1, 10))
	require.Equal(t, 0, allowTimes(h, 10, 2, 10))
	require.True(t, h.Allow(2, 7, tallyring.Unlimited))
	require.Equal(t, 3, allowTimes(h, 10, 2, 20), "what Unlimited admitted is counted")
}

// Goal: no count wraps. What does not fit is over every finite limit until it has left the window,
// and then the histogram is exact again.
// Method: the trap's large cost through a drain and an idle gap; then counts at and over what is
// held, up to all ones, with events after them.
func TestCountsSaturate(t *testing.T) {
	const large = 980_000_000
	h := mustNew(t, 10*time.Second, 0.1, large)
	require.True(t, h.Allow(1, large, large))
	require.False(t, h.Allow(2, 1, large))
	d := h.Take(1+10*second, 0, large)
	require.Equal(t, uint64(large), d.Remaining)

	for _, most := range []uint64{1, 1000, 1 << 33, MaxCount} {
		for _, weight := range []uint64{1, most, math.MaxUint64} {
			h = mustNew(t, 10, 0.1, most)
			h.Add(5, h.holds)
			require.Equal(t, h.holds, h.Read(5).High, "what is held is not saturated")
			h.Add(6, weight)
			r := h.Read(6)
			require.Equal(t, uint64(saturated), r.High)
			require.Equal(t, float64(saturated), r.Estimate)
			require.LessOrEqual(t, r.Low, h.holds)
			require.GreaterOrEqual(t, r.Low, most)
			require.False(t, h.Allow(6, 0, MaxCount))
			require.True(t, h.Allow(7, 1, tallyring.Unlimited))
			d := h.Take(15, 1, most)
			want := tallyring.Decision{Limit: most, At: 15, RetryAfter: 2, ResetAfter: 2}
			require.Equal(t, want, d)
			require.True(t, h.Allow(17, 1, most), "as RetryAfter said")
			require.Equal(t, tallyring.Reading{Low: 1, Estimate: 1, High: 1}, h.Read(17))
		}
	}
}

// Goal: a saturated histogram forgets what did not fit, not what came after it.
// Method: events that fit after what left, in a window that still covers what did not fit.
func TestEventsAfterSaturationCount(t *testing.T) {
	h := mustNew(t, 10, 0.1, 100)
	h.Add(1, h.holds)
	h.Add(2, 5)
	h.Add(11, 6)
	require.Equal(t, uint64(saturated), h.Read(11).High, "the 5 are in the window")
	require.Equal(t, tallyring.Reading{Low: 6, Estimate: 6, High: 6}, h.Read(12))
}

// Goal: times beyond the last tick are Never, and no arithmetic there wraps.
// Method: a full histogram at the last ticks.
func TestLastTicks(t *testing.T) {
	h := mustNew(t, time.Second, 0.1, 100)
	const last = tallyring.Tick(math.MaxInt64)
	require.True(t, h.Allow(last-second, 10, 10))
	d := h.Take(last-5, 1, 10)
	require.Equal(t, 5*time.Nanosecond, d.RetryAfter)
	require.True(t, h.Allow(last, 10, 10))
	d = h.Take(last, 1, 10)
	require.Equal(t, tallyring.Never, d.RetryAfter)
	require.Equal(t, tallyring.Never, d.ResetAfter)
}
