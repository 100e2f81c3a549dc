package slidinglog

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

const second = tallyring.Tick(time.Second)

func mustLog(t testing.TB, length time.Duration) *Log {
	t.Helper()
	log, err := New(length)
	require.NoError(t, err)
	return log
}

// allowTimes returns how many of n events of cost 1 pass at now.
func allowTimes(log *Log, n int, now tallyring.Tick, limit uint64) (passed int) {
	for range n {
		if log.Allow(now, 1, limit) {
			passed++
		}
	}
	return passed
}

// Goal: a length that no window has is refused by an error that names it.
// Method: the values next to both ends.
func TestNewRefusesLengths(t *testing.T) {
	for _, length := range []time.Duration{math.MinInt64, -1, 0, tallyring.MaxLength + 1} {
		_, err := New(length)
		require.ErrorContains(t, err, "slidinglog: length is "+length.String())
		_, err = NewKeyed(length, 1)
		require.ErrorContains(t, err, "slidinglog: length is "+length.String())
	}
	for _, length := range []time.Duration{1, tallyring.MaxLength} {
		log, err := New(length)
		require.NoError(t, err)
		assert.Equal(t, length, log.Length())
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
		{0, 1}, {1, 1}, {w - 1, 1}, {w, 0}, {w + 1, 0}, {2 * w, 0},
		{tallyring.Tick(10 * time.Hour), 0}, {tallyring.Tick(tallyring.MaxLength), 0},
		{1 << 31 * 1e6, 0}, {1 << 32 * 1e6, 0}, {math.MaxInt64 - 5*second, 0},
	} {
		log := mustLog(t, time.Duration(w))
		require.True(t, log.Allow(5*second, 1, 1))
		assert.Equal(t, c.want, log.Read(5*second+c.gap).High, "gap %d", c.gap)
		assert.Equal(t, c.want == 0, log.Allow(5*second+c.gap, 1, 1), "gap %d", c.gap)
	}
	log := mustLog(t, time.Duration(w))
	for i := range tallyring.Tick(10) {
		log.Add(i*second+second/2, 1)
	}
	log.Add(20*second+second/2, 1)
	assert.Equal(t, uint64(1), log.Read(20*second+second/2).High)
}

// Goal: a caller whose clock lags gets no budget of its own.
// Method: the trap's numbers: full at 10 s, then 1000 times at 9 s and at 10 s.
func TestLateTickMintsNothing(t *testing.T) {
	log := mustLog(t, time.Second)
	passed := allowTimes(log, 10, 10*second, 10)
	for range 1000 {
		passed += allowTimes(log, 1, 9*second, 10) + allowTimes(log, 1, 10*second, 10)
	}
	passed += allowTimes(log, 1, -5, 10)
	assert.Equal(t, 10, passed+allowTimes(log, 100, 10*second, 10))
}

// Goal: late events go where they belong: a decision to the newest tick, an Add to its own.
// Method: read at the ticks where each of them leaves.
func TestLateTicksAreCountedWhereStated(t *testing.T) {
	log := mustLog(t, 10)
	require.True(t, log.Add(100, 1))
	d := log.Take(95, 1, 5)
	assert.Equal(t, tallyring.Tick(100), d.At)
	assert.True(t, log.Add(91, 1))
	assert.False(t, log.Add(90, 1), "the window (90, 100] does not cover 90")
	assert.Equal(t, uint64(3), log.Read(100).High)
	assert.Equal(t, uint64(2), log.Read(101).High)
	assert.Equal(t, uint64(3), log.Read(91).High, "a late reading is one at the newest tick")
	assert.Equal(t, uint64(0), log.Read(110).High)
}

// Goal: what is denied changes nothing.
// Method: the trap's numbers, L = 10: cost 8, cost 5 (denied), cost 1; then compare the whole state
// across denials, peeks and readings far in the future.
func TestDenialsAndPeeksChangeNothing(t *testing.T) {
	log := mustLog(t, time.Second)
	require.True(t, log.Allow(0, 8, 10))
	require.False(t, log.Allow(0, 5, 10))
	d := log.Take(0, 1, 10)
	require.True(t, d.Allowed)
	require.Equal(t, uint64(1), d.Remaining)

	before := append([]run(nil), log.queue.ring...)
	state := log.queue
	for _, now := range []tallyring.Tick{0, 1, second - 1, second, 100 * second, math.MaxInt64} {
		log.Allow(now, 0, 10)
		log.Take(now, 0, 0)
		log.Allow(now, 11, 10)
		log.Take(now, 1, 0)
		log.Read(now)
	}
	log.Allow(second-1, 2, 10)
	log.Add(5, 0)
	log.Refund(0, 0)
	assert.Equal(t, state, log.queue)
	assert.Equal(t, before, log.queue.ring)
}

// Goal: the edges of cost and limit: above the limit is Never, cost 0 is a peek, limit 0 denies.
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
		{"largest limit", 1, math.MaxUint64 - 2, math.MaxUint64 - 1, tallyring.Decision{
			Allowed: true, Limit: math.MaxUint64 - 1, ResetAfter: 10}},
	} {
		log := mustLog(t, 10)
		log.Add(7, c.have)
		c.want.At = 7
		assert.Equal(t, c.want, log.Take(7, c.cost, c.limit), c.name)
		log = mustLog(t, 10)
		log.Add(7, c.have)
		assert.Equal(t, c.want.Allowed, log.Allow(7, c.cost, c.limit), c.name)
	}
}

// Goal: a limit acts at once, and the same limit again refills nothing.
// Method: the traps' numbers: 2 of 15 used, raised 100-fold; 10 of 10 spent, limited to 10 again.
func TestLimitIsAnArgument(t *testing.T) {
	log := mustLog(t, time.Minute)
	require.Equal(t, 2, allowTimes(log, 2, 1, 15))
	require.Equal(t, 1498, allowTimes(log, 2000, 1, 1500))
	require.Equal(t, 0, allowTimes(log, 5, 2, 15), "lowered again")

	log = mustLog(t, time.Minute)
	require.Equal(t, 10, allowTimes(log, 10, 1, 10))
	require.Equal(t, 0, allowTimes(log, 10, 2, 10))
	require.True(t, log.Allow(2, 7, tallyring.Unlimited))
	require.Equal(t, 3, allowTimes(log, 10, 2, 20), "what Unlimited admitted is counted")
}

// Goal: no count wraps. A saturated one is over every finite limit, and a refund cannot open it.
// Method: the trap's large cost through a drain and an idle gap; then counts at and over all ones.
func TestCountsSaturate(t *testing.T) {
	const large = 980_000_000
	log := mustLog(t, 10*time.Second)
	require.True(t, log.Allow(1, large, large))
	require.False(t, log.Allow(2, 1, large))
	d := log.Take(1+10*second, 0, large)
	require.Equal(t, uint64(large), d.Remaining)

	log = mustLog(t, 10)
	log.Add(5, math.MaxUint64-1)
	require.True(t, log.Allow(5, 0, math.MaxUint64-1))
	log.Refund(5, 1)
	require.True(t, log.Allow(5, 1, math.MaxUint64-1), "not saturated: refunded")
	log.Add(5, 2)
	require.Equal(t, uint64(math.MaxUint64), log.Read(5).High)
	log.Refund(5, 100)
	require.False(t, log.Allow(5, 0, math.MaxUint64-1), "saturated: kept")
	require.True(t, log.Allow(6, 9, tallyring.Unlimited))
	require.Equal(t, uint64(math.MaxUint64), log.Read(14).High)
	require.Equal(t, uint64(9), log.Read(15).High, "the saturated tick left, the other is exact")
	require.True(t, log.Allow(15, 1, 10))
	require.Zero(t, log.carry)

	log = mustLog(t, 10)
	log.Add(5, math.MaxUint64-1)
	log.Add(6, 10)
	require.Equal(t, uint64(1), log.carry)
	log.Refund(6, 9)
	require.Equal(t, uint64(math.MaxUint64), log.Read(6).High)
	require.Zero(t, log.carry)
}

// Goal: a refund goes to the tick that it names, never below 0, and does nothing once that left.
// Method: refunds before, at, between and after the ticks counted.
func TestRefundNamesATick(t *testing.T) {
	log := mustLog(t, 10)
	log.Add(20, 3)
	log.Add(25, 4)
	for _, none := range []tallyring.Tick{-1, 0, 19, 21, 26, math.MaxInt64} {
		log.Refund(none, 1)
	}
	require.Equal(t, uint64(7), log.Read(25).High)
	log.Refund(20, 1)
	log.Refund(25, 100)
	require.Equal(t, uint64(2), log.Read(25).High)
	require.Equal(t, 5*time.Nanosecond, log.Take(25, 3, 3).RetryAfter)
	require.Equal(t, 5*time.Nanosecond, log.Take(25, 1, 2).ResetAfter, "nothing is left at 25")
	log.Add(31, 1)
	log.Refund(20, 2)
	require.Equal(t, uint64(1), log.Read(31).High)
	require.Equal(t, tallyring.Tick(31), log.Take(20, 1, 5).At, "newest stays when refunded")
}

// Goal: RetryAfter and ResetAfter are exact to the nanosecond, also from a late tick.
// Method: random logs; a denied event is tried on a replica at now+RetryAfter, where it must pass,
// and 1 ns before, where it must not; the count is read at now+ResetAfter and 1 ns before.
func TestRetryAfterIsExact(t *testing.T) {
	const length = 1000
	random := rand.New(rand.NewPCG(1, 2))
	tried, late := 0, 0
	for range 3000 {
		var ticks [12]tallyring.Tick
		var costs [12]uint64
		for i := range ticks {
			ticks[i] = 5000 + tallyring.Tick(random.Uint64N(2*length))
			costs[i] = 1 + random.Uint64N(4)
		}
		replica := func() *Log {
			log := mustLog(t, length)
			for i := range ticks {
				log.Add(ticks[i], costs[i])
			}
			return log
		}
		limit := 1 + random.Uint64N(20)
		cost := 1 + random.Uint64N(limit)
		now := 5000 + tallyring.Tick(random.Uint64N(3*length))
		log := replica()
		d := log.Take(now, cost, limit)
		if d.ResetAfter > 0 {
			at := now + tallyring.Tick(d.ResetAfter)
			require.Zero(t, log.Read(at).High)
			require.NotZero(t, log.Read(at-1).High)
		}
		if d.Allowed {
			continue
		}
		tried++
		if now < d.At {
			late++
		}
		at := now + tallyring.Tick(d.RetryAfter)
		require.True(t, replica().Allow(at, cost, limit), "at %d", at)
		require.False(t, replica().Allow(at-1, cost, limit), "at %d", at-1)
	}
	require.Greater(t, tried, 500)
	require.Greater(t, late, 100)
}

// Goal: no tick admits within W what the limit forbids, whatever order ticks come in.
// Method: random ticks; then every interval (e-W, e] that ends at an admitted event.
func TestNoTrailingIntervalHoldsMoreThanTheLimit(t *testing.T) {
	const length, limit = 500, 7
	random := rand.New(rand.NewPCG(3, 4))
	log := mustLog(t, length)
	var admitted []tallyring.Tick
	now, denied := int64(0), 0
	for range 20_000 {
		now = max(0, now+random.Int64N(100)-20)
		if d := log.Take(tallyring.Tick(now), 1, limit); d.Allowed {
			admitted = append(admitted, d.At)
		} else {
			denied++
		}
	}
	for last := range admitted {
		require.True(t, last == 0 || admitted[last] >= admitted[last-1], "ticks as counted ascend")
		if last >= limit {
			require.GreaterOrEqual(t, admitted[last]-admitted[last-limit], tallyring.Tick(length))
		}
	}
	require.Greater(t, denied, 1000)
}
