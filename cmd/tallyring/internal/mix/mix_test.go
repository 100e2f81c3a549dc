package mix

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

const minute = tallyring.Tick(time.Minute)

func params(kinds ...Kind) Params {
	return Params{
		Kinds: kinds, Clients: 8, Windows: 60, Load: 100, Seed: 5, Limit: 40, Window: time.Minute,
	}
}

// ticks returns the ticks of each client of a mix, by name.
func ticks(t *testing.T, p Params) map[string][]tallyring.Tick {
	t.Helper()
	e, err := Events(p)
	require.NoError(t, err)
	index, all := e.Index(), map[string][]tallyring.Tick{}
	for key := range e.Keys() {
		all[e.Name(key)] = e.AppendTicks(nil, index.Of(key))
	}
	return all
}

// Goal: the same parameters make the same requests, another seed others, and more clients leave
// those that were there as they are. Method: compared.
func TestRequestsDependOnTheParameters(t *testing.T) {
	for _, kind := range Kinds {
		p := params(kind)
		first := ticks(t, p)
		assert.Equal(t, first, ticks(t, p), kind)
		require.Len(t, first, p.Clients)
		other := p
		other.Seed++
		if kind != "adversary" { // which leaves nothing to chance
			assert.NotEqual(t, first, ticks(t, other), kind)
		}
		more := p
		more.Clients = 9
		grown := ticks(t, more)
		require.Len(t, grown, 9)
		for name, list := range first {
			assert.Equal(t, list, grown[name], name)
		}
	}
}

// Goal: all requests lie in the windows asked for, from the turn of one on, and the kinds of a mix
// do not change each other. Method: every kind alone and all together.
func TestKindsAreApart(t *testing.T) {
	p := params(Kinds...)
	together := ticks(t, p)
	first, last := tallyring.Tick(1<<62), tallyring.Tick(0)
	for _, kind := range Kinds {
		seen := 0
		for name, list := range together {
			if !strings.HasPrefix(name, string(kind)+"-") {
				continue
			}
			seen++
			require.True(t, slices.IsSorted(list), name)
			first, last = min(first, list[0]), max(last, list[len(list)-1])
		}
		assert.Equal(t, p.Clients, seen, kind)
	}
	start := first / minute * minute
	assert.Zero(t, start%minute)
	assert.Less(t, last, start+60*minute)
	for _, kind := range Kinds {
		for name, list := range ticks(t, params(kind)) {
			assert.Equal(t, list, together[name])
		}
	}
}

// Goal: each kind is what the package comment says. Method: gaps and loads counted.
func TestNatureOfEachKind(t *testing.T) {
	sum := 0
	for _, list := range ticks(t, params("steady")) {
		n := len(list)
		sum += n
		mean := (list[n-1] - list[0]) / tallyring.Tick(n-1)
		for i := 1; i < n; i++ {
			gap := list[i] - list[i-1]
			require.Greater(t, gap, mean*2/5)
			require.Less(t, gap, mean*8/5)
		}
	}
	// 8 clients, 60 windows, 40 each, times 0.5 to 1.5 by chance.
	assert.InEpsilon(t, 8*60*40, sum, 0.25)

	for name, list := range ticks(t, params("bursty")) {
		quick := 0
		for i := 1; i < len(list); i++ {
			if list[i]-list[i-1] <= 2*minute/40/burstPace {
				quick++
			}
		}
		assert.Greater(t, quick, len(list)*9/10, name)
		assert.Less(t, quick, len(list)-10, "no pauses in %s", name)
	}
}

// Goal: a retrying client behaves as if it had asked the exact log, and gives up after ten retries.
// Method: its requests through a log of its own, plain and slow; gaps after a denial.
func TestRetryingFollowsTheLog(t *testing.T) {
	p := params("retrying")
	p.Load = 200
	denials, longest := 0, 0
	for _, list := range ticks(t, p) {
		var kept []tallyring.Tick
		run := 0
		for i, now := range list {
			inside := 0
			for _, tick := range kept {
				if tick > now-minute {
					inside++
				}
			}
			if inside < 40 {
				kept = append(kept, now)
				run = 0
				continue
			}
			denials++
			run++
			longest = max(longest, run)
			if i+1 < len(list) && run <= retries {
				gap := list[i+1] - now
				require.GreaterOrEqual(t, gap, minute/retrySteps)
				require.Less(t, gap, 2*minute/retrySteps)
			}
			if run > retries {
				run = 0
			}
		}
	}
	require.Greater(t, denials, 100)
	require.Greater(t, longest, 1, "nobody was denied twice")
}

// Goal: the adversary strikes at the last nanosecond before a turn and one nanosecond less than a
// window later, with the whole limit. Method: its ticks.
func TestAdversaryStrikes(t *testing.T) {
	for name, list := range ticks(t, params("adversary")) {
		require.Zero(t, len(list)%80, name)
		for at := 0; at < len(list); at += 80 {
			require.Equal(t, minute-1, list[at]%minute)
			require.Equal(t, list[at], list[at+39])
			require.Equal(t, list[at]+minute-1, list[at+40])
			require.Equal(t, list[at+40], list[at+79])
			if at > 0 {
				require.Equal(t, list[at-80]+cycleWindows*minute, list[at])
			}
		}
	}
}

// Goal: what cannot be made is refused in one line that names a cure. Method: each field wrong.
func TestValidate(t *testing.T) {
	require.NoError(t, params(Kinds...).Validate())
	for want, spoil := range map[string]func(*Params){
		"no kind of client":            func(p *Params) { p.Kinds = nil },
		"0 clients of each kind":       func(p *Params) { p.Clients = 0 },
		"1000001 clients of each kind": func(p *Params) { p.Clients = MaxClients + 1 },
		"load 0 %":                     func(p *Params) { p.Load = 0 },
		"0 windows of 1m0s":            func(p *Params) { p.Windows = 0 },
		"windows of 87672h0m0s, want":  func(p *Params) { p.Window = tallyring.MaxLength },
		"is no limit":                  func(p *Params) { p.Limit = 0 },
		"requests, want at most":       func(p *Params) { p.Limit = 1 << 60 },
	} {
		p := params(Kinds...)
		spoil(&p)
		_, err := Events(p)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
	few := params("steady")
	few.Load, few.Limit, few.Windows, few.Clients = 1, 1, 1, 1
	_, err := Events(few)
	require.EqualError(t, err, "the mix holds no request, want more windows or a higher load")
}

// Goal: no more requests are made than Validate reckons with. Method: each kind, many parameters.
func TestMostIsABound(t *testing.T) {
	for _, kind := range Kinds {
		for _, load := range []int{10, 300} {
			for _, limit := range []uint64{1, 7, 60} {
				p := params(kind)
				p.Load, p.Limit = load, limit
				e, err := Events(p)
				require.NoError(t, err)
				// What is by chance may pass its mean; a fifth is far from it here.
				where := fmt.Sprint(kind, load, limit)
				require.LessOrEqual(t, float64(e.Len()), 1.2*p.most(), where)
			}
		}
	}
}

// Goal: lists of kinds are read in any order, each kind once. Method: each form, and each error.
func TestParseKinds(t *testing.T) {
	got, err := ParseKinds("adversary, steady")
	require.NoError(t, err)
	assert.Equal(t, []Kind{"steady", "adversary"}, got)
	got, err = ParseKinds("all")
	require.NoError(t, err)
	assert.Equal(t, Kinds, got)
	_, err = ParseKinds("steady,")
	assert.ErrorContains(t, err, `mix "" is no kind of client, want all or a list`)
	_, err = ParseKinds("steady,steady")
	assert.ErrorContains(t, err, "twice")
}

func ExampleEvents() {
	e, err := Events(Params{
		Kinds: []Kind{"adversary"}, Clients: 1, Windows: 4, Load: 100, Seed: 1, Limit: 3,
		Window: time.Minute,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tick := range e.AppendTicks(nil, e.Index().Of(0)) {
		fmt.Println(e.Name(0), time.Duration((tick-e.First()+minute-1)%(9*minute)))
	}
	// Output:
	// adversary-1 59.999999999s
	// adversary-1 59.999999999s
	// adversary-1 59.999999999s
	// adversary-1 1m59.999999998s
	// adversary-1 1m59.999999998s
	// adversary-1 1m59.999999998s
}
