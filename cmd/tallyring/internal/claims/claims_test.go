package claims

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// Goal: every claim comes out as it is known to, and says what was run and why. Method: the list,
// with a part of each figure.
func TestVerdicts(t *testing.T) {
	all, err := All()
	require.NoError(t, err)
	want := []struct {
		verdict Verdict
		figure  string
	}{
		{Reproduced, "200 through the fixed window, 100 through log"},
		{Reproduced, "200 through the fixed window, 100 through log, 103 through sliding 2"},
		{Conditional, "evenly: estimate 93, true count 93, allowed; start: estimate 93, true " +
			"count 30, allowed; end: estimate 93, true count 114, allowed"},
		{Reproduced, "22 of 22 hold"},
		{Reproduced, "fixed 2.00, sliding 2 1.99, sliding 3 1.99, sliding 7 1.99"},
		{Reproduced, "0 were further off than that"},
		{Reproduced, "n = 2: 1.000; n = 3: 1.000; n = 7: 1.000"},
		{Conditional, "adversary -100.0, +0.0"},
		{Conditional, "1000: 0.0000 %"},
		{Contradicted, "would be denied again there"},
		{Reproduced, "262 GB"},
		{Conditional, "n = 2: 22.6 for 24"},
		{Reproduced, "log² N"},
		{Unknowable, "none"},
	}
	require.Len(t, all, len(want))
	for i, c := range all {
		assert.Equal(t, want[i].verdict, c.Verdict, c.Text)
		assert.Contains(t, c.Figure, want[i].figure, c.Text)
		for _, text := range []string{c.Text, c.From, c.Run, c.Because} {
			assert.NotEmpty(t, text, c.Text)
		}
	}
}

// Goal: 0.003 % holds at some limits and at others it does not, and what tells them apart is how
// near a client's mean comes to the limit. Method: the crowd's figures, and at two limits a count
// by the definition: previous bucket weighed by what is left of it, plus the current one.
func TestCrowd(t *testing.T) {
	requests, limits, err := crowd()
	require.NoError(t, err)
	held, not := 0, 0
	for _, l := range limits {
		if share := float64(l.wrong) / float64(requests); share <= quoted {
			held++
			assert.Greater(t, l.nearest, 2.5, "limit %d", l.limit)
		} else {
			not++
			assert.Less(t, l.nearest, 2.5, "limit %d", l.limit)
		}
		assert.LessOrEqual(t, l.wrong, requests)
	}
	assert.GreaterOrEqual(t, held, 2)
	assert.GreaterOrEqual(t, not, 5)
}

// Goal: what judge counts is what the definition gives. Method: bursts of one client against a
// plain two-bucket estimate in integers.
func TestJudgeByTheDefinition(t *testing.T) {
	e, err := mixedEvents("bursty")
	require.NoError(t, err)
	ticks := e.AppendTicks(nil, e.Index().Of(0))[:1500]
	limits := []atLimit{{limit: 20}, {limit: 80}}
	require.NoError(t, judge(ticks, limits))
	const minute = tallyring.Tick(time.Minute)
	for _, l := range limits {
		over, wrong := 0, 0
		for i, now := range ticks {
			truth, previous, current := 0, tallyring.Tick(0), tallyring.Tick(0)
			for _, tick := range ticks[:i+1] {
				if tick > now-minute {
					truth++
				}
				switch now/minute - tick/minute {
				case 0:
					current++
				case 1:
					previous++
				}
			}
			says := current*minute+previous*(minute-now%minute) > tallyring.Tick(l.limit)*minute
			truly := uint64(truth) > l.limit
			if truly {
				over++
			}
			if says != truly {
				wrong++
			}
		}
		assert.Equal(t, over, l.over, "limit %d", l.limit)
		assert.Equal(t, wrong, l.wrong, "limit %d", l.limit)
		assert.Positive(t, wrong, "limit %d", l.limit)
	}
}

// Goal: with smooth traffic the oldest bucket holds 1/(n-1) of the total at every n. Method: from 2
// to 61 slots.
func TestSmoothTrafficIsOfOrderOneOverN(t *testing.T) {
	for _, r := range []replay.Resolution{1, 2, 3, 4, 5, 6, 10, 12, 20, 30, 60} {
		oldest, difference, err := smooth(r)
		require.NoError(t, err)
		assert.InEpsilon(t, 1/float64(r), oldest, 0.01, "%d slots", r.Slots())
		assert.Less(t, difference, oldest, "%d slots", r.Slots())
	}
}

// Goal: the claims are run on all kinds of clients. Method: events of each.
func TestMixedEvents(t *testing.T) {
	for _, kind := range mix.Kinds {
		e, err := mixedEvents(kind)
		require.NoError(t, err)
		assert.Equal(t, 4, e.Keys())
		assert.Greater(t, e.Len(), 1000)
	}
	assert.True(t, slices.IsSorted(claimedResolutions))
	assert.Equal(t, "1,234,567", grouped(1234567))
	assert.Equal(t, "0", grouped(0))
}
