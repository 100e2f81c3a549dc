package limiter_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// Goal: where a demand that could be met when it was asked for is denied when it is charged, each
// charge before it is taken back once, nothing else is, and no demand after it is charged. Method:
// an event that makes a demand twice, of which the limit holds one: what is asked for each of them
// passes, and so does the first charge, as if another goroutine had been faster.
func TestADemandMadeTwiceIsChargedTwiceOrNotAtAll(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		site, user := k.build(t, 1000), k.build(t, 4)
		onSite, onUser := limiter.Demand{site, site.Key("s")}, limiter.Demand{user, user.Key("u")}
		require.True(t, site.AllowAt("s", start, 10))
		require.True(t, user.AllowAt("u", start, 1))
		for denier, demands := range map[int][]limiter.Demand{
			2: {onSite, onUser, onUser}, 1: {onUser, onUser, onSite},
		} {
			j := limiter.TakeAll(demands, start, 2)
			require.False(t, j.Allowed)
			require.Equal(t, denier, j.DeniedBy)
			require.Positive(t, j.RetryAfter)
			require.Equal(t, uint64(10), site.PeekAt("s", start).High)
			require.Equal(t, uint64(1), user.PeekAt("u", start).High)
		}
		require.True(t, limiter.AllowAll([]limiter.Demand{onUser, onSite, onUser}, start, 1))
		require.Equal(t, uint64(11), site.PeekAt("s", start).High)
		require.Equal(t, uint64(3), user.PeekAt("u", start).High)
	})
}

// Goal: an event that one limit denies does not reach the others at all, so it turns none of their
// buckets. Method: the site has counted in a bucket, the user denies in the next, and a late event
// of the site is still counted where it belongs.
func TestWhatOneLimitDeniesTurnsNoOtherBucket(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		site, user := k.build(t, 1000), k.build(t, 1)
		later := start + max(tallyring.Tick(k.width), 1)
		require.True(t, site.AllowAt("s", start, 10))
		require.True(t, user.AllowAt("u", later, 1))
		for _, demands := range [][]limiter.Demand{
			{{site, site.Key("s")}, {user, user.Key("u")}},
			{{user, user.Key("u")}, {site, site.Key("s")}},
		} {
			require.False(t, limiter.AllowAll(demands, later, 1))
			require.Equal(t, start, site.TakeAt("s", start, 1).At)
		}
	})
}

// TestNoMoreDemandsThanMost gives what is one demand too many to both verbs.
func TestNoMoreDemandsThanMost(t *testing.T) {
	l, err := limiter.New(100, window)
	require.NoError(t, err)
	demands := slices.Repeat([]limiter.Demand{{l, l.Key("a")}}, limiter.MaxDemands+1)
	const said = "limiter: an event makes 9 demands, want at most 8"
	require.PanicsWithValue(t, said, func() { limiter.TakeAll(demands, start, 1) })
	j := limiter.TakeAll(demands[1:], start, 1)
	require.True(t, j.Allowed)
	require.PanicsWithValue(t, said, func() { limiter.RefundAll(demands, j, 1) })
	require.Equal(t, uint64(8), l.PeekAt("a", start).High)
	limiter.RefundAll(demands[1:], j, 1)
	require.Zero(t, l.PeekAt("a", start).High)
}
