package limiter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// jointScript drives TakeAll on limiters of several kinds, and a model of each, with the same
// events. Keys are the same in all of them, and ticks are late only for keys that are live.
type jointScript struct {
	t        *testing.T
	limiters []*limiter.Limiter
	models   []*model
	shadows  []bool
	passed   []uint64 // events that passed in shadow alone
	rng      *rand.Rand
	latest   tallyring.Tick
	taken    []jointly

	allowed, denied, late, undone int
}

// jointly is an event that all counted.
type jointly struct {
	demands []demand
	joint   limiter.Joint
	cost    uint64
}

type demand struct {
	limiter int
	key     string
}

func newJointScript(t *testing.T, rng *rand.Rand) *jointScript {
	s := &jointScript{t: t, rng: rng, latest: start, passed: make([]uint64, 3)}
	for range 3 {
		k, limit := kinds[rng.IntN(len(kinds))], 1+rng.Uint64N(12)
		s.models = append(s.models, newModel(k, limit))
		s.limiters = append(s.limiters, k.build(t, limit, limiter.WithKeys(64)))
		shadow := rng.IntN(8) == 0
		s.limiters[len(s.shadows)].SetShadow(shadow)
		s.shadows = append(s.shadows, shadow)
	}
	return s
}

// draw returns what an event demands, and its tick. One of four makes a demand twice.
func (s *jointScript) draw() (demands []demand, now tallyring.Tick) {
	if s.rng.IntN(3) == 0 {
		steps := []int64{1, 17, int64(window) / 7, int64(window) / 6, int64(window) - 1,
			int64(window), 2*int64(window) + 1}
		s.latest += tallyring.Tick(steps[s.rng.IntN(len(steps))])
	}
	for i := range s.limiters {
		if s.rng.IntN(4) > 0 {
			demands = append(demands, demand{i, string(rune('a' + s.rng.IntN(2)))})
		}
	}
	if len(demands) > 0 && s.rng.IntN(4) == 0 {
		demands = append(demands, demands[s.rng.IntN(len(demands))])
	}
	s.rng.Shuffle(len(demands), func(i, j int) { demands[i], demands[j] = demands[j], demands[i] })
	now = s.latest
	if s.rng.IntN(4) == 0 {
		for _, d := range demands {
			if !s.models[d.limiter].live(d.key, s.latest) {
				return demands, now
			}
		}
		s.late++
		now -= tallyring.Tick(window) / 5
	}
	return demands, now
}

func (s *jointScript) run(events int) {
	for range events {
		if s.rng.IntN(5) == 0 && len(s.taken) > 0 {
			s.refund()
			continue
		}
		demands, now := s.draw()
		cost := s.rng.Uint64N(5)
		j := limiter.TakeAll(s.given(demands), now, cost)
		s.decide(demands, now, cost, j)
		for i, l := range s.limiters {
			for _, key := range []string{"a", "b"} {
				require.Equal(s.t, s.models[i].read(key, s.latest).High,
					l.PeekAt(key, s.latest).High, "limiter %d, key %s", i, key)
			}
			require.Equal(s.t, s.passed[i], l.StatsAt(s.latest).ShadowDenied)
		}
	}
}

func (s *jointScript) given(demands []demand) (given []limiter.Demand) {
	for _, d := range demands {
		l := s.limiters[d.limiter]
		given = append(given, limiter.Demand{Limiter: l, Key: l.Key(d.key)})
	}
	return given
}

// decide lets the models decide, and compares: each is asked alone; if all admit, each is charged,
// and what it then denies, since a demand before was the same, takes all back.
func (s *jointScript) decide(demands []demand, now tallyring.Tick, cost uint64, j limiter.Joint) {
	asked, charged := true, 0
	remaining := tallyring.Unlimited
	for _, d := range demands {
		m := s.models[d.limiter]
		asked = asked && (s.shadows[d.limiter] || m.admits(d.key, now, cost))
		remaining = min(remaining, m.remaining(d.key, now))
	}
	if !asked {
		require.Equal(s.t, remaining, j.Remaining)
		s.deny(demands, now, cost, j)
		return
	}
	ats := make([]tallyring.Tick, len(demands))
	for i, d := range demands {
		m := s.models[d.limiter]
		ats[i] = tallyring.Tick(m.place(d.key, now))
		if !m.allow(d.key, now, cost) {
			if !s.shadows[d.limiter] {
				break
			}
			ats[i] = -1
		}
		charged++
	}
	if charged < len(demands) {
		for i, d := range demands[:charged] {
			if ats[i] >= 0 {
				s.models[d.limiter].refund(d.key, ats[i], cost)
			}
		}
		require.Equal(s.t, charged, j.DeniedBy)
		require.False(s.t, j.Allowed)
		s.undone++
		return
	}
	require.True(s.t, j.Allowed)
	require.Equal(s.t, -1, j.DeniedBy)
	for i, d := range demands {
		require.Equal(s.t, ats[i], j.CountedAt(i))
		if ats[i] < 0 {
			s.passed[d.limiter]++
		}
	}
	s.allowed++
	s.taken = append(s.taken, jointly{demands, j, cost})
}

// deny checks a denial of events that were asked for alone: who denies, and the wait, which is over
// when all of them admit.
func (s *jointScript) deny(demands []demand, now tallyring.Tick, cost uint64, j limiter.Joint) {
	s.denied++
	require.False(s.t, j.Allowed)
	by := demands[j.DeniedBy]
	require.False(s.t, s.models[by.limiter].admits(by.key, now, cost))
	require.False(s.t, s.shadows[by.limiter])
	require.Equal(s.t, s.models[by.limiter].limit, j.Limit)
	all := func(at tallyring.Tick) bool {
		for _, d := range demands {
			if !s.shadows[d.limiter] && !s.models[d.limiter].admits(d.key, at, cost) {
				return false
			}
		}
		return true
	}
	if j.RetryAfter == tallyring.Never {
		require.Greater(s.t, cost, j.Limit)
		return
	}
	require.False(s.t, all(now+tallyring.Tick(j.RetryAfter)-1))
	require.True(s.t, all(now+tallyring.Tick(j.RetryAfter)))
}

func (s *jointScript) refund() {
	i := s.rng.IntN(len(s.taken))
	e := s.taken[i]
	s.taken = append(s.taken[:i:i], s.taken[i+1:]...)
	limiter.RefundAll(s.given(e.demands), e.joint, e.cost)
	for i, d := range e.demands {
		if at := e.joint.CountedAt(i); at >= 0 {
			s.models[d.limiter].refund(d.key, at, e.cost)
		}
	}
}

// TestJointDecisionsLikeTheModels plays random scripts over limiters of all kinds, some of them in
// shadow mode, with demands made twice, late ticks and refunds.
func TestJointDecisionsLikeTheModels(t *testing.T) {
	var allowed, denied, late, undone int
	for seed := range uint64(rounds(300)) {
		s := newJointScript(t, rand.New(rand.NewPCG(seed, 81)))
		s.run(200)
		allowed, denied = allowed+s.allowed, denied+s.denied
		late, undone = late+s.late, undone+s.undone
	}
	require.Greater(t, min(allowed, denied, late, undone), rounds(300),
		"some path was hardly taken")
}

// FuzzJoint plays what a fuzzer's bytes draw.
func FuzzJoint(f *testing.F) {
	random := rand.New(rand.NewPCG(82, 83))
	for range 6 {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		source := &byteSource{data, rand.NewPCG(1, 1)}
		s := newJointScript(t, rand.New(source))
		for n := 0; len(source.data) > 0 && n < 300; n++ {
			s.run(1)
		}
	})
}
