package slidinglog

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

func mustKeyed(t testing.TB, length time.Duration, keys int) *Keyed {
	t.Helper()
	keyed, err := NewKeyed(length, keys)
	require.NoError(t, err)
	return keyed
}

// Goal: a number of keys that cannot be is refused by an error that names it.
// Method: the values next to both ends.
func TestNewKeyedRefusesKeys(t *testing.T) {
	for _, keys := range []int{math.MinInt, -1, 0, MaxKeys + 1} {
		_, err := NewKeyed(time.Second, keys)
		require.ErrorContains(t, err, "slidinglog: room for ")
		require.ErrorContains(t, err, "want 1 to 1073741824")
	}
	assert.Equal(t, time.Second, mustKeyed(t, time.Second, MaxKeys).Length())
}

// Goal: C places satisfy what the argument in Keyed asks of them, and are a third more than keys.
// Method: the inequality itself.
func TestCapacityCarriesTheArgument(t *testing.T) {
	for _, keys := range []int{1, 8, 9, 10, 11, 12, 13, 14, 100, 9999, 1 << 20, MaxKeys} {
		c := capacity(keys)
		assert.LessOrEqual(t, c, keys+keys/3+4)
		if keys > stepsPerStart {
			turn := (c + stepsPerStart - 1) / stepsPerStart
			assert.LessOrEqual(t, keys+2*turn, c, "%d keys", keys)
		} else {
			assert.Equal(t, keys, c)
		}
	}
}

// Goal: keys live keys always fit, whichever of them expire, wake again or never come back.
// Method: keep exactly that many live in a model, at every step replacing the longest idle one by a
// new key, by one that had expired, or by nothing; none may be refused.
func TestLiveKeysAlwaysFit(t *testing.T) {
	for _, keys := range []int{1, 2, 7, 8, 9, 20, 100, 1000} {
		const length = 1000
		keyed := mustKeyed(t, length, keys)
		random := rand.New(rand.NewPCG(uint64(keys), 1))
		type use struct {
			key uint64
			at  tallyring.Tick
		}
		var live []use // in order of use, which is the order of expiry
		var gone []uint64
		next, woken, now := uint64(0), 0, tallyring.Tick(0)
		for range 40 * max(keys, 100) {
			now += tallyring.Tick(random.Uint64N(uint64(2*length/keys + 2)))
			if len(live) == keys {
				now = max(now, live[0].at+length)
			}
			for len(live) > 0 && live[0].at <= now-length {
				gone = append(gone, live[0].key)
				live = live[1:]
			}
			key := next
			if n := len(gone); n > 0 && random.IntN(2) == 0 {
				i := max(0, n-1-random.IntN(2*keys))
				key = gone[i]
				gone = append(gone[:i], gone[i+1:]...)
				woken++
			} else {
				next++
			}
			allowed, placed := keyed.Allow(key, now, 1, 1)
			require.True(t, placed, "%d keys, tick %d", keys, now)
			require.True(t, allowed)
			live = append(live, use{key, now})
			require.LessOrEqual(t, len(keyed.places), capacity(keys))
		}
		s := keyed.Stats(now)
		require.Equal(t, len(live), s.Live)
		require.Positive(t, s.Reused)
		require.Positive(t, woken)
		require.Zero(t, s.Refused)
	}
}

// Goal: the promise holds against one who knows where the hand is.
// Method: before each new key, wake expired keys until the hand has only live ones before it; all
// of them are idle again one window later.
func TestLiveKeysFitAgainstAnAdversary(t *testing.T) {
	const length, keys = 10, 30
	keyed := mustKeyed(t, length, keys)
	blocked, woken := 0, 0
	for round := range 2000 {
		now := tallyring.Tick(length * (round + 1))
		live := 0
		for live < keys-1 {
			key, found := expiredBeforeHand(keyed, now)
			if !found {
				blocked++
				break
			}
			_, placed := keyed.Allow(key, now, 1, 1)
			require.True(t, placed)
			live++
		}
		woken += live
		_, placed := keyed.Allow(uint64(round), now, 1, 1)
		require.True(t, placed, "round %d: %d keys are live", round, live)
	}
	require.Greater(t, blocked, 500, "the hand never had live keys alone before it")
	require.Greater(t, woken, 1000)
}

// expiredBeforeHand returns a key that the next turn of the hand would free.
func expiredBeforeHand(k *Keyed, now tallyring.Tick) (key uint64, found bool) {
	for i := range min(stepsPerStart, len(k.places)) {
		e := k.places[(k.hand+i)%len(k.places)]
		if e != nil && k.expired(e, int64(now)) {
			return e.key, true
		}
	}
	return 0, false
}

// Goal: a flood of new keys gives none of those over their limit a fresh budget, and is refused
// without a lock once nothing can be free; when the live keys expire, new ones fit again.
// Method: the trap: 10,000 keys, A denied, a flood, A again.
func TestKeyFloodEvictsNoLiveKey(t *testing.T) {
	const length = 1000 * second
	keyed := mustKeyed(t, time.Duration(length), 10_000)
	a := uint64(math.MaxUint64)
	for range 3 {
		keyed.Allow(a, 1, 1, 3)
	}
	fits := 0
	for key := range uint64(50_000) {
		if _, placed := keyed.Allow(key, tallyring.Tick(2+key), 1, 3); placed {
			fits++
		}
	}
	require.Equal(t, capacity(10_000)-1, fits)
	allowed, placed := keyed.Allow(a, 60_000, 1, 3)
	require.True(t, placed)
	require.False(t, allowed)
	require.Equal(t, int64(1+length), keyed.full.Load(), "A is the first to expire")

	d, placed := keyed.Take(1<<40, 60_000, 1, 3)
	require.False(t, placed)
	require.Equal(t, tallyring.Decision{Limit: 3, At: 60_000, RetryAfter: time.Duration(length)}, d)
	_, placed = keyed.Add(1<<40, 60_000, 1)
	require.False(t, placed)
	d, placed = keyed.Take(1<<40, 60_000, 4, 3)
	require.True(t, placed, "cost above the limit is decided without a place")
	require.Equal(t, tallyring.Never, d.RetryAfter)
	s := keyed.Stats(60_000)
	require.Equal(t, capacity(10_000), s.Live)
	require.Equal(t, s.Places, s.Live)
	require.Equal(t, uint64(50_000-fits+2), s.Refused)
	require.Zero(t, s.Reused)

	allowed, placed = keyed.Allow(1<<40, 100_000+length, 1, 3)
	require.True(t, allowed && placed, "all others have expired")
	require.Equal(t, uint64(stepsPerStart), keyed.Stats(0).Reused)
	_, placed = keyed.Allow(1<<41, 60_000, 1, 3)
	require.True(t, placed, "there are free places for a tick that lags, too")
}

// Goal: the hand keeps a key whose newest tick is later than the tick it was told.
// Method: the trap: a caller that read its tick before the key counted again moves the hand.
func TestHandKeepsAKeyAheadOfIt(t *testing.T) {
	keyed := mustKeyed(t, 10, 1)
	keyed.Allow(1, 1000, 1, 1)
	_, placed := keyed.Allow(2, 999, 1, 1)
	require.False(t, placed)
	_, placed = keyed.Allow(2, 1009, 1, 1)
	require.False(t, placed)
	allowed, _ := keyed.Allow(1, 1000, 1, 1)
	require.False(t, allowed)
	_, placed = keyed.Allow(2, 1010, 1, 1)
	require.True(t, placed)
}

// Goal: a key that lost its place gains no second budget from a tick that lags.
// Method: one place; the key comes back at the tick of its own events, and before.
func TestLateKeyStartsAtTheHorizon(t *testing.T) {
	keyed := mustKeyed(t, 10, 1)
	keyed.Allow(1, 100, 1, 1)
	keyed.Allow(2, 110, 1, 1)
	keyed.Allow(1, 120, 0, 1)
	_, placed := keyed.Allow(1, 119, 1, 1)
	require.False(t, placed)
	d, placed := keyed.Take(3, 120, 1, 1)
	require.True(t, placed && d.Allowed)
	d, placed = keyed.Take(1, 100, 0, 1)
	require.True(t, placed)
	require.Equal(t, tallyring.Tick(120), d.At, "key 2 stopped to count at 120")
	counted, placed := keyed.Add(1, 110, 1)
	require.True(t, placed)
	require.False(t, counted, "(110, 120] does not cover 110")
}

// Goal: a full store notes no later tick for its first free place than there is.
// Method: the last key that fits is placed at a tick far behind the others, after the hand has seen
// them; it is the first to expire, and its place must be found within one turn of the hand. Many
// sizes, so that the hand stands everywhere.
func TestFullStoreSeesTheLastKeyPlaced(t *testing.T) {
	const length = 1000
	for keys := stepsPerStart + 1; keys < 60; keys++ {
		keyed := mustKeyed(t, length, keys)
		places := capacity(keys)
		for key := range places - 1 {
			keyed.Allow(uint64(key), 1000, 1, 1)
		}
		keyed.Allow(uint64(places-1), 500, 1, 1)
		_, placed := keyed.Allow(100, 1001, 1, 1)
		require.False(t, placed)
		for range places/stepsPerStart + 1 {
			_, placed = keyed.Allow(100, 1500, 1, 1)
		}
		require.True(t, placed, "%d keys", keys)
	}
}

// Goal: an entry that lost its key neither counts nor denies, for who still holds it.
// Method: retire one by hand, as between the two steps of a turn; then let a turn retire another.
func TestDeadEntryIsNobodys(t *testing.T) {
	keyed := mustKeyed(t, 10, 1)
	keyed.Allow(1, 100, 1, 1)
	keyed.Allow(1, 101, 1, 1)
	e, _ := keyed.logs.Load(1)
	require.True(t, e.denies(105, 1, 1))
	keyed.Allow(2, 110, 1, 1)
	require.True(t, e.dead)
	require.False(t, e.denies(105, 1, 1))

	e, _ = keyed.logs.Load(2)
	require.NotNil(t, keyed.lookUp(2))
	e.mu.Unlock()
	require.True(t, keyed.retire(e, 120))
	require.Nil(t, keyed.lookUp(2))
	require.Zero(t, keyed.Read(2, 110))
}

// Goal: denials, peeks, readings and refunds create no key.
// Method: each on keys never seen.
func TestOnlyCountingCreatesAKey(t *testing.T) {
	keyed := mustKeyed(t, 10, 4)
	keyed.Allow(1, 5, 0, 9)
	keyed.Allow(2, 5, 10, 9)
	keyed.Take(3, 5, 1, 0)
	keyed.Take(4, 5, 0, 9)
	keyed.Add(5, 5, 0)
	keyed.Read(6, 5)
	keyed.Refund(7, 5, 1)
	s := keyed.Stats(5)
	require.Zero(t, s.Live+s.Expired)
	require.Zero(t, keyed.logs.Size())
}

// Goal: keys do not share counts, and Stats adds up what there is.
// Method: three keys, one of them expired.
func TestStatsAddUp(t *testing.T) {
	keyed := mustKeyed(t, 10, 9)
	keyed.Add(1, 5, 2)
	keyed.Add(2, 20, 1)
	keyed.Add(2, 21, 1)
	keyed.Add(3, 21, 4)
	require.Equal(t, uint64(2), keyed.Read(2, 21).High)
	require.Equal(t, uint64(4), keyed.Read(3, 21).High)
	s := keyed.Stats(21)
	require.Equal(t, 2, s.Live)
	require.Equal(t, 1, s.Expired)
	require.Equal(t, 4, s.Runs)
	require.GreaterOrEqual(t, s.Bytes, 3*(entryBytes+firstRuns*runBytes))
}

// Goal: what Stats says of memory is what the process pays, but for the map.
// Method: the heap before and after 100,000 keys of one event each.
func TestBytesMatchTheHeap(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	keyed := mustKeyed(t, time.Second, 100_000)
	for key := range uint64(100_000) {
		keyed.Allow(key, 1, 1, 1)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	heap := float64(after.HeapAlloc - before.HeapAlloc)
	stated := float64(keyed.Stats(1).Bytes)
	t.Logf("%.0f bytes a key, of which the map %.0f", heap/100_000, (heap-stated)/100_000)
	assert.Greater(t, heap, stated*0.95)
	assert.Less(t, heap, stated+100*100_000)
	runtime.KeepAlive(keyed)
}
