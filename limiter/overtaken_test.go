package limiter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// Goal: an event on several limits is counted by each of them once if it is admitted, and by none
// if it is not, wherever another goroutine makes room while it is decided. Method: the event would
// be denied, and what stands in its way is taken back at each point that it comes to, in turn. It
// must have been seen to pass.
func TestRoomMadeWhileSeveralLimitsAreAskedIsUsedOnce(t *testing.T) {
	if !tallyring.Holding {
		t.Skip("a decision can be stopped in builds with the tag tallyring_hold alone")
	}
	defer tallyring.Watch(nil, nil)
	each(t, func(t *testing.T, k kind) {
		passed := 0
		for nth := 1; ; nth++ { // ends: an event comes to a bounded number of points
			user, site := k.build(t, 1), k.build(t, 10)
			first := user.TakeAt("u", start, 1)
			require.True(t, first.Allowed)
			came := 0
			tallyring.Watch(func(tallyring.Point) {
				if came++; came == nth {
					user.RefundAt("u", first.At, 1)
				}
			}, func() int { return 0 })
			j := limiter.TakeAll([]limiter.Demand{
				{site, site.Key("s")}, {user, user.Key("u")}}, start, 1)
			tallyring.Watch(nil, nil)
			if came < nth {
				require.False(t, j.Allowed)
				break
			}
			counted := uint64(0)
			if j.Allowed {
				counted, passed = 1, passed+1
			}
			require.Equal(t, counted, user.PeekAt("u", start).High, "point %d", nth)
			require.Equal(t, counted, site.PeekAt("s", start).High, "point %d", nth)
		}
		if k.slots > 0 { // the log has no points
			require.Positive(t, passed)
		}
	})
}
