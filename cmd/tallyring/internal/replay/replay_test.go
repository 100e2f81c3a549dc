package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// base is a tick that is not at the start of any bucket.
const base = tallyring.Tick(1_772_600_767_123_456_789)

// randomEvents returns sorted events of few keys, close together, with equal ticks, steps that end
// at bucket boundaries and pauses of several windows.
func randomEvents(t *testing.T, r *rand.Rand, n int, window time.Duration) *Events {
	t.Helper()
	e := NewEvents(ByClient)
	tick := base
	w := tallyring.Tick(window)
	for range n {
		switch r.IntN(12) {
		case 0:
			tick += w - tick%w // the start of a bucket of every width
		case 1:
			tick += w
		case 2:
			tick += tallyring.Tick(r.Int64N(int64(5 * w)))
		case 3, 4, 5:
		default:
			tick += tallyring.Tick(r.Int64N(int64(w/20 + 1)))
		}
		require.NoError(t, e.Add(tick, fmt.Sprint("k", r.IntN(3)), "", ""))
	}
	e.Sort()
	return e
}

// Goal: through the real engine, every scheme decides like its definition, whether its buckets are
// whole nanoseconds or not. Method: random logs against the plain model, all outcomes compared.
func TestEngineDecidesLikeTheModel(t *testing.T) {
	const seeds = 60
	wrong, scaled := 0, 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		window := []time.Duration{10 * time.Second, time.Minute, 1021 * time.Nanosecond}[r.IntN(3)]
		plan := Plan{
			Limit: 1 + r.Uint64N(8), Window: window, Resolutions: []Resolution{1, 2, 6, 7, 60},
		}
		e := randomEvents(t, r, 300, window)
		got, err := Run(e, plan, 5, nil)
		require.NoError(t, err)
		want, err := run(e, plan, 5, nil, newModel, 2)
		require.NoError(t, err)
		require.Equal(t, want, got, "seed %d, %+v", seed, plan)
		for _, o := range got.Outcomes {
			wrong += o.WrongAllow + o.WrongDeny
			if o.Name == "strict" || o.Name == "log" {
				require.LessOrEqual(t, uint64(o.WorstTrailing), plan.Limit)
			}
		}
		scale, err := ScaleOf(7, window)
		require.NoError(t, err)
		if scale > 1 {
			scaled++
		}
	}
	require.Positive(t, wrong, "no scheme ever differed from the log: the logs test nothing")
	require.Positive(t, scaled, "no bucket was a fraction of a nanosecond")
}

// Goal: a log of more keys than an engine is given at one time is replayed as if it were given all.
// Method: 100 keys, in batches of every few sizes, against one batch.
func TestBatchesOfKeys(t *testing.T) {
	e := NewEvents(ByClient)
	r := rand.New(rand.NewPCG(6, 6))
	tick := base
	for range 5000 {
		tick += tallyring.Tick(r.Int64N(int64(50 * time.Millisecond)))
		require.NoError(t, e.Add(tick, fmt.Sprint("k", r.IntN(100)*r.IntN(100)/100), "", ""))
	}
	plan := Plan{Limit: 5, Window: 10 * time.Second, Resolutions: []Resolution{1, 6}}
	want, err := Run(e, plan, 9, nil)
	require.NoError(t, err)
	require.Positive(t, want.Outcomes[0].Denied)
	for _, most := range []int{1, 7, 99, e.Keys(), 1000} {
		got, err := run(e, plan, 9, nil, newLimiterEngine, most)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%d keys at a time", most)
		batches := e.batches(e.Index(), most)
		assert.Len(t, batches, (e.Keys()+most-1)/most)
		seen := newBitset(e.Len())
		for _, b := range batches {
			require.True(t, slices.IsSorted(b.events))
			for _, i := range b.events {
				require.False(t, seen.has(int(i)))
				seen.set(int(i))
				require.Less(t, e.list[i].key-b.first, uint32(len(b.names)))
			}
		}
		for i := range e.Len() {
			require.True(t, seen.has(i))
		}
	}
}

// Goal: peak is the most in any (t-W, t]. Method: the definition, on random logs and random subsets
// of them.
func TestPeakIsTheMostInAnyWindow(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		e := randomEvents(t, r, 120, time.Second)
		index := e.Index()
		chosen := newBitset(e.Len())
		for i := range e.Len() {
			if r.IntN(3) > 0 {
				chosen.set(i)
			}
		}
		for key := range e.names {
			var ticks []tallyring.Tick
			for _, i := range index.Of(key) {
				if chosen.has(int(i)) {
					ticks = append(ticks, e.list[i].tick)
				}
			}
			got := e.peak(index.Of(key), time.Second, chosen.has)
			require.Equal(t, slowPeak(ticks, time.Second), got, "seed %d, key %d", seed, key)
		}
	}
}

// Goal: the edges of the window are (t-W, t]. Method: two requests exactly W and W-1ns apart.
func TestPeakEdges(t *testing.T) {
	for apart, want := range map[tallyring.Tick]int{1000: 1, 999: 2, 0: 2} {
		e := NewEvents(ByClient)
		require.NoError(t, e.Add(base, "a", "", ""))
		require.NoError(t, e.Add(base+apart, "a", "", ""))
		every := func(int) bool { return true }
		assert.Equal(t, want, e.peak(e.Index().Of(0), 1000, every), "%d apart", apart)
	}
}

// Goal: the statistics of a small log, worked out by hand. Method: limit 2 per 10 s; a client sends
// 2 at the end of a fixed window and 3 at the start of the next.
func TestStatisticsByHand(t *testing.T) {
	e := NewEvents(ByClient)
	second := tallyring.Tick(time.Second)
	for _, at := range []tallyring.Tick{19, 19, 20, 20, 21, 40} {
		require.NoError(t, e.Add(at*second, "a", "", ""))
	}
	require.NoError(t, e.Add(20*second, "b", "", ""))
	e.Sort()
	plan := Plan{Limit: 2, Window: 10 * time.Second, Resolutions: []Resolution{1}}
	got, err := Run(e, plan, 1, nil)
	require.NoError(t, err)
	assert.Equal(t, []Outcome{
		{Scheme{"log", 0}, 3, 0, 0, 2},
		{Scheme{"fixed", 0}, 1, 2, 0, 4},
		{Scheme{"sliding", 1}, 3, 0, 0, 2},
		{Scheme{"strict", 1}, 3, 0, 0, 2},
	}, got.Outcomes)
	assert.Equal(t, []KeyOutcome{{"a", 6, 3, 5}}, got.Keys)
	assert.Equal(t, 1, got.KeysDenied)
}

// Goal: the order of arrival does not matter, except among requests of one tick. Method: the same
// requests in order and shuffled; ticks are distinct.
func TestOrderOfLinesDoesNotMatter(t *testing.T) {
	plan := Plan{Limit: 3, Window: time.Second, Resolutions: DefaultResolutions}
	r := rand.New(rand.NewPCG(3, 3))
	ordered, shuffled := NewEvents(ByClient), NewEvents(ByClient)
	order := r.Perm(2000)
	for i := range order {
		add := func(e *Events, i int) {
			tick := base + tallyring.Tick(i)*50_000_001
			require.NoError(t, e.Add(tick, fmt.Sprint("k", i%7%3), "", ""))
		}
		add(ordered, i)
		add(shuffled, order[i])
	}
	require.True(t, ordered.sorted)
	require.False(t, shuffled.sorted)
	ordered.Sort()
	shuffled.Sort()
	want, err := Run(ordered, plan, 3, nil)
	require.NoError(t, err)
	got, err := Run(shuffled, plan, 3, nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// Goal: requests of one tick keep their order. Method: two clients alternate on one tick, behind a
// later line that forces a sort.
func TestSortIsStable(t *testing.T) {
	e := NewEvents(ByClient)
	require.NoError(t, e.Add(base+1, "late", "", ""))
	for i := range 1000 {
		require.NoError(t, e.Add(base, fmt.Sprint(i%2), "", ""))
	}
	e.Sort()
	for i := range 1000 {
		require.Equal(t, uint32(1+i%2), e.list[i].key)
	}
	require.Equal(t, base+1, e.Last())
}

// Goal: a log whose requests lie decades apart is replayed as if nothing were wrong with that.
// Method: the same bursts with pauses of windows and of 20 years; the outcomes are equal, and the
// pause is not on a whole window.
func TestLongPauses(t *testing.T) {
	const year = 365 * 24 * time.Hour
	plan := Plan{Limit: 4, Window: 10 * time.Second, Resolutions: []Resolution{1, 5, 6, 60}}
	var results []Result
	for _, pause := range []time.Duration{4 * plan.Window, 2 * 10 * year} {
		pause = pause / plan.Window * plan.Window
		r := rand.New(rand.NewPCG(4, 4))
		e := NewEvents(ByClient)
		tick := tallyring.Tick(100 * year)
		for burst := range 6 {
			for range 40 {
				tick += tallyring.Tick(r.Int64N(int64(time.Second)))
				require.NoError(t, e.Add(tick, fmt.Sprint("k", r.IntN(2)), "", ""))
			}
			tick += tallyring.Tick(pause) + tallyring.Tick(burst)*1_234_567
		}
		result, err := Run(e, plan, 2, nil)
		require.NoError(t, err)
		require.Positive(t, result.Outcomes[0].Denied)
		results = append(results, result)
	}
	assert.Equal(t, results[0], results[1])
}

// Goal: a log that covers too long a time without a pause is refused, not counted wrong. Method: a
// request each day for 11 years under a limit per week.
func TestTooLongWithoutAPause(t *testing.T) {
	e := NewEvents(ByClient)
	const day = 24 * time.Hour
	for i := range 11 * 366 {
		require.NoError(t, e.Add(base+tallyring.Tick(i)*tallyring.Tick(day), "a", "", ""))
	}
	_, err := Run(e, Plan{Limit: 1, Window: 7 * day, Resolutions: []Resolution{7}}, 1, nil)
	require.ErrorContains(t, err, "without a pause, want at most 8")
}

// Goal: pairs of strings that would read the same are different keys. Method: a blank moved from
// the first part to the second.
func TestJoinedKeysAreDistinct(t *testing.T) {
	e := NewEvents(ByClientPath)
	require.NoError(t, e.Add(1, "a b", "c", "x"))
	require.NoError(t, e.Add(1, "a", "b c", "x"))
	require.NoError(t, e.Add(1, "a", "b c", "y"))
	assert.Equal(t, 2, e.Keys())
	assert.Equal(t, "a b c", e.kind.text(e.names[0]))
	long := strings.Repeat("n", 300)
	require.NoError(t, e.Add(1, long, "p", ""))
	assert.Equal(t, long+" p", e.kind.text(e.names[2]))
}

// Goal: each kind of key takes the part that it names. Method: one request, every kind.
func TestKeyKinds(t *testing.T) {
	want := []string{"c", "p", "a", "c p", "c a"}
	for i, name := range keyNames {
		kind, err := ParseKeyKind(name)
		require.NoError(t, err)
		e := NewEvents(kind)
		require.NoError(t, e.Add(1, "c", "p", "a"))
		assert.Equal(t, want[i], kind.text(e.names[0]))
		assert.Equal(t, name, kind.String())
	}
	_, err := ParseKeyKind("ip")
	assert.EqualError(t, err, "want one of client, path, agent, client+path, client+agent")
}

// Goal: resolutions are durations that divide the window, or parts of it; everything else is
// refused with a cure. Method: each form, and each error.
func TestParseResolutions(t *testing.T) {
	got, err := ParseResolutions("1m, 10s,1s,1/7,500ms", time.Minute)
	require.NoError(t, err)
	assert.Equal(t, []Resolution{1, 6, 60, 7, 120}, got)
	for list, want := range map[string]string{
		"":             `resolution "" is no duration`,
		"10":           `resolution "10" is no duration`,
		"7s":           "resolution 7s does not divide the window 1m0s, want such as 6s, or 1/9",
		"0s":           "resolution 0s does not fit the window 1m0s",
		"-1s":          "resolution -1s does not fit the window 1m0s",
		"2m":           "resolution 2m0s does not fit the window 1m0s",
		"1ns":          "resolution 1ns cuts the window 1m0s into more than 65535 buckets",
		"1/0":          `resolution "1/0" is no part of the window`,
		"1/65536":      `resolution "1/65536" is no part of the window`,
		"1s,1/60":      `resolution "1/60" is there twice`,
		"8.571428571s": "want such as 7.5s, or 1/7 of the window",
	} {
		_, err := ParseResolutions(list, time.Minute)
		require.ErrorContains(t, err, want, list)
	}
	assert.Equal(t, "10s", Resolution(6).In(time.Minute))
	assert.Equal(t, "1/7", Resolution(7).In(time.Minute))
}

// Goal: a plan that no engine can hold is refused before any log is read. Method: each field wrong.
func TestPlanValidate(t *testing.T) {
	good := Plan{Limit: 10, Window: time.Minute, Resolutions: []Resolution{1, 6, 7}}
	require.NoError(t, good.Validate())
	for want, spoil := range map[string]func(*Plan){
		"limit 0 would deny everything":    func(p *Plan) { p.Limit = 0 },
		"window 0s is not a length":        func(p *Plan) { p.Window = 0 },
		"window -1ns is not a length":      func(p *Plan) { p.Window = -1 },
		"is too long, want at most 87672h": func(p *Plan) { p.Window = tallyring.MaxLength + 1 },
		"cannot be counted exactly":        func(p *Plan) { p.Window = tallyring.MaxLength - 1 },
		"limit":                            func(p *Plan) { p.Limit = 1 << 63 },
	} {
		p := good
		spoil(&p)
		err := p.Validate()
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}

// Goal: rings that no memory holds are refused before they are made. Method: the most keys that
// fit, and a quarter more.
func TestRingsBeyondMemory(t *testing.T) {
	s := Scheme{"strict", 65535}
	most := int(maxEngineBytes * 3 / 4 / (65536 * 8))
	require.NoError(t, s.fits(most))
	require.EqualError(t, s.fits(most+most/4), "65536 slots for each of 15360 keys take 10 GiB, "+
		"more than 8, want a wider resolution")
	require.NoError(t, Scheme{Name: "log"}.fits(1<<31-1))
}

// Goal: progress is told from the beginning, never goes back and ends near the end. Method: count.
func TestProgress(t *testing.T) {
	e := randomEvents(t, rand.New(rand.NewPCG(5, 5)), 100, time.Second)
	calls, last := 0, -1
	plan := Plan{Limit: 3, Window: time.Second, Resolutions: []Resolution{1}}
	_, err := Run(e, plan, 0, func(done, all int) {
		require.Equal(t, 4*100, all)
		require.Greater(t, done, last)
		calls, last = calls+1, done
	})
	require.NoError(t, err)
	assert.Equal(t, 4, calls, "once for each scheme of a short log")
}
