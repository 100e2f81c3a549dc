package lab

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// base is a tick that is not at the start of any bucket.
const base = tallyring.Tick(1_772_600_767_123_456_789)

const randomRequests = 90

// randomKeys returns the ticks of a few keys and the same as sorted events: equal ticks, steps that
// end at the turn of buckets, pauses of several windows, and one key with few requests.
func randomKeys(
	t *testing.T, r *rand.Rand, window time.Duration,
) (keys [][]tallyring.Tick, e *replay.Events) {
	t.Helper()
	e = replay.NewEvents(replay.ByClient)
	keys = make([][]tallyring.Tick, 4)
	w, tick := tallyring.Tick(window), base
	for range randomRequests {
		switch r.IntN(12) {
		case 0:
			tick += max(w-tick%w-tallyring.Tick(r.IntN(3)), 0)
		case 1:
			tick += w
		case 2:
			tick += tallyring.Tick(r.Int64N(int64(4 * w)))
		case 3, 4, 5:
		default:
			tick += tallyring.Tick(r.Int64N(int64(w/20 + 1)))
		}
		key := r.IntN(3)
		if r.IntN(40) == 0 {
			key = 3
		}
		keys[key] = append(keys[key], tick)
		require.NoError(t, e.Add(tick, fmt.Sprint("k", key), "", ""))
	}
	e.Sort()
	return keys, e
}

// Goal: every figure of both loops is what its definition says, for every kind that decides by a
// sum, and the token bucket. Method: random logs against the plain model, buckets of a fraction of
// a nanosecond among them.
func TestFiguresAreThoseOfTheModel(t *testing.T) {
	sum := Errors{}
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 1))
		window := []time.Duration{10 * time.Second, time.Minute, 1021 * time.Nanosecond}[r.IntN(3)]
		p := Plan{
			Limit: 1 + r.Uint64N(7), Window: window, Resolutions: []replay.Resolution{1, 2, 6, 7},
		}
		keys, e := randomKeys(t, r, window)
		f, err := Run(e, p, nil)
		require.NoError(t, err)
		require.Equal(t, randomRequests, f.Requests)
		for _, o := range f.Outcomes {
			where := fmt.Sprintf("seed %d, %d per %v, %s", seed, p.Limit, window, o.Kind)
			closed, denied := slowClosed(p, o.Kind, keys)
			require.Equal(t, closed, o.Closed, where)
			require.Equal(t, denied, f.Denied, where)
			if !o.HasOpen {
				require.Equal(t, "gcra", o.Name)
				continue
			}
			open, over := slowOpen(p, o.Kind, keys)
			require.Equal(t, over, f.Over, where)
			require.Equal(t, open.Errors, o.Open.Errors, where)
			for _, pair := range [][2]float64{
				{open.MeanDifference, o.Open.MeanDifference}, {open.MeanOver, o.Open.MeanOver},
				{open.LargestAbove, o.Open.LargestAbove}, {open.LargestBelow, o.Open.LargestBelow},
			} {
				require.InDelta(t, pair[0], pair[1], 1e-9, where)
			}
			sum.WrongAllow += open.WrongAllow + closed.WrongAllow
			sum.WrongDeny += open.WrongDeny + closed.WrongDeny
			sum.Missed += open.Missed + closed.Missed
			sum.Accused += open.Accused + closed.Accused
		}
	}
	require.Positive(t, sum.WrongAllow)
	require.Positive(t, sum.WrongDeny)
	require.Positive(t, sum.Missed, "no source was ever missed: the logs test nothing")
	require.Positive(t, sum.Accused, "no source was ever accused: the logs test nothing")
}

// Goal: the log is without error, a strict ring never misses anything and admits no more than the
// limit, and an exponential histogram is within its error and rounds toward deny. Method: every
// mix, several limits.
func TestBoundsOfEachKind(t *testing.T) {
	for _, kind := range mix.Kinds {
		for _, limit := range []uint64{1, 10, 137} {
			p := Plan{
				Limit: limit, Window: time.Minute, Resolutions: []replay.Resolution{1, 6, 60},
				Epsilons: []float64{0.5, 0.1, 0.01},
			}
			e, err := mix.Events(mix.Params{
				Kinds: []mix.Kind{kind}, Clients: 3, Windows: 20, Load: 120, Seed: 7,
				Limit: limit, Window: time.Minute,
			})
			require.NoError(t, err)
			f, err := Run(e, p, nil)
			require.NoError(t, err)
			require.Positive(t, f.Over, "%s at %d", kind, limit)
			for _, o := range f.Outcomes {
				where := fmt.Sprintf("%s at %d: %s", kind, limit, o.Kind)
				switch o.Name {
				case "log":
					assert.Equal(t, Errors{}, o.Open.Errors, where)
					assert.Equal(t, Errors{}, o.Closed.Errors, where)
					assert.Zero(t, o.Open.MeanDifference, where)
				case "strict":
					assert.Zero(t, o.Open.WrongAllow, where)
					assert.Zero(t, o.Open.Missed, where)
					assert.LessOrEqual(t, uint64(o.Closed.WorstTrailing), limit, where)
				case "exphist":
					assert.LessOrEqual(t, o.Open.LargestAbove, o.Epsilon, where)
					assert.LessOrEqual(t, o.Open.LargestBelow, o.Epsilon, where)
					assert.Zero(t, o.Open.WrongAllow, where)
					assert.LessOrEqual(t, uint64(o.Closed.WorstTrailing), limit, where)
				}
				assert.LessOrEqual(t, uint64(o.Closed.WorstTrailing), 2*limit, where)
			}
		}
	}
}

// Goal: who knows the buckets drives an interpolated ring of any number of slots, and a fixed
// window, above 1.9 limits in one trailing window, and a strict ring never above one. Method: the
// adversary, against rings of 1 to 3,601 slots, at several limits and windows.
func TestAdversary(t *testing.T) {
	resolutions := []replay.Resolution{1, 2, 3, 6, 12, 59, 60, 3600}
	for _, window := range []time.Duration{time.Second, time.Minute, 10 * time.Hour} {
		for _, limit := range []uint64{21, 300} {
			e, err := mix.Events(mix.Params{
				Kinds: []mix.Kind{"adversary"}, Clients: 2, Windows: 4, Load: 1, Seed: 1,
				Limit: limit, Window: window,
			})
			require.NoError(t, err)
			p := Plan{Limit: limit, Window: window, Resolutions: resolutions}
			f, err := Run(e, p, nil)
			require.NoError(t, err)
			seen := 0
			for _, o := range f.Outcomes {
				worst := float64(o.Closed.WorstTrailing) / float64(limit)
				switch o.Name {
				case "fixed", "sliding":
					seen++
					assert.Greater(t, worst, 1.9, "%d per %v: %s", limit, window, o.Kind)
					assert.LessOrEqual(t, worst, 2.0, "%d per %v: %s", limit, window, o.Kind)
				case "strict", "log":
					assert.LessOrEqual(t, worst, 1.0, "%d per %v: %s", limit, window, o.Kind)
				}
			}
			assert.Equal(t, 1+len(resolutions), seen)
		}
	}
}

// Goal: the course is that of the busiest client, and each estimate in it is that of its kind at
// that time. Method: three clients, one with the most requests in a window, against the model.
func TestCourse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	p := Plan{Limit: 3, Window: time.Minute, Resolutions: []replay.Resolution{1, 6}}
	keys, e := randomKeys(t, r, p.Window)
	f, err := Run(e, p, nil)
	require.NoError(t, err)
	busy, peak := 0, 0
	for key, ticks := range keys {
		for i := range ticks {
			if n := slowCount(ticks, i, p.Window); n > peak {
				busy, peak = key, n
			}
		}
	}
	c := f.Course
	require.Equal(t, fmt.Sprint("k", busy), c.Client)
	require.Len(t, c.At, coursePoints+1)
	most := 0
	for n, at := range c.At {
		var before []tallyring.Tick
		for _, tick := range keys[busy] {
			if tick <= at {
				before = append(before, tick)
			}
		}
		most = max(most, c.Truth[n])
		for kind, o := range f.Outcomes {
			if !o.HasOpen {
				require.Nil(t, c.Estimates[kind])
				continue
			}
			m := model{plan: p, kind: o.Kind, all: before}
			want, _ := m.estimate(at).Float64()
			require.InDelta(t, want, c.Estimates[kind][n], 1e-9, "%s at point %d", o.Kind, n)
			if o.Name == "log" {
				require.Equal(t, want, float64(c.Truth[n]))
			}
		}
	}
	require.Positive(t, most)
}

// Goal: bytes are of what is used: 22.6 for one word, more for more slots, the log's follow its
// limit. Method: the README's figures, which come from the limiter's own tests.
func TestBytesPerKey(t *testing.T) {
	p := Plan{Limit: 100, Window: time.Minute}
	for _, c := range []struct {
		kind Kind
		want float64
	}{
		{Kind{Scheme: replay.Scheme{Name: "fixed"}}, 22.6},
		{Kind{Scheme: replay.Scheme{Name: "sliding", Resolution: 1}}, 22.6},
		{Kind{Scheme: replay.Scheme{Name: "strict", Resolution: 6}}, 108},
		{Kind{Scheme: replay.Scheme{Name: "sliding", Resolution: 60}}, 855},
		{Kind{Scheme: replay.Scheme{Name: "gcra"}}, 22.6},
	} {
		got, err := c.kind.Bytes(p)
		require.NoError(t, err)
		assert.InEpsilon(t, c.want, got, 0.01, c.kind.String())
	}
	log := Kind{Scheme: replay.Scheme{Name: "log"}}
	last := 0.0
	for _, limit := range []uint64{10, 100, 1000, 1 << 40} {
		p.Limit = limit
		got, err := log.Bytes(p)
		require.NoError(t, err)
		require.Greater(t, got, last)
		require.GreaterOrEqual(t, got, float64(16*min(limit, mostLogged)))
		last = got
	}
}

// Goal: whatever plan is valid, there is a limiter whose cells hold its token bucket, so that its
// bytes can be asked for. Method: the ends of the limits and windows, and what lies between.
func TestTokenBucketsFitCells(t *testing.T) {
	kind := Kind{Scheme: replay.Scheme{Name: "gcra"}}
	weighed := 0
	for _, window := range []time.Duration{
		1, 36, 999, time.Microsecond, time.Second, time.Minute, 365 * 24 * time.Hour,
		tallyring.MaxLength,
	} {
		for shift := range uint(57) {
			for _, limit := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1} {
				p := Plan{Limit: limit, Window: window}
				if p.Validate() != nil {
					continue
				}
				got, err := kind.Bytes(p)
				require.NoError(t, err, "%d per %v", limit, window)
				require.Less(t, got, 23.0, "%d per %v", limit, window)
				weighed++
			}
		}
	}
	require.Greater(t, weighed, 100)
}

// Goal: a plan that cannot be measured is refused in one line. Method: each field wrong.
func TestPlanValidate(t *testing.T) {
	good := Plan{
		Limit: 10, Window: time.Minute, Resolutions: []replay.Resolution{1, 7},
		Epsilons: []float64{0.1},
	}
	require.NoError(t, good.Validate())
	for want, spoil := range map[string]func(*Plan){
		"limit 0 would deny":     func(p *Plan) { p.Limit = 0 },
		"window 0s is not":       func(p *Plan) { p.Window = 0 },
		"want 0.001 to 1":        func(p *Plan) { p.Epsilons = []float64{0.0001} },
		"error 2 of":             func(p *Plan) { p.Epsilons = []float64{2} },
		"cannot be counted exac": func(p *Plan) { p.Window = tallyring.MaxLength - 1 },
	} {
		p := good
		spoil(&p)
		_, err := Run(nil, p, nil)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}

// Goal: progress goes on and ends below the whole. Method: count.
func TestProgress(t *testing.T) {
	e, err := mix.Events(mix.Params{
		Kinds: mix.Kinds, Clients: 9, Windows: 60, Load: 100, Seed: 1, Limit: 20,
		Window: time.Minute,
	})
	require.NoError(t, err)
	calls, last := 0, 0
	p := Plan{Limit: 20, Window: time.Minute, Resolutions: []replay.Resolution{1}}
	_, err = Run(e, p, func(done, all int) {
		require.Greater(t, done, last)
		require.LessOrEqual(t, done, all)
		calls, last = calls+1, done
	})
	require.NoError(t, err)
	require.Positive(t, calls)
}
