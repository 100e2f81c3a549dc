package workload

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// fake is a contender whose events take a known time of a clock that is set by hand.
type fake struct {
	name   string
	nanos  int
	clock  *tallyring.ManualClock
	order  *[]string
	deny   int // of how many events the last is denied; 0 for none
	denies bool
	closed int
}

func (f *fake) entry() Entry {
	return Entry{contender.Info{Name: f.name}, func() (Trial, error) {
		run := func(_, _, events int) int {
			f.clock.Advance(time.Duration(events * f.nanos))
			*f.order = append(*f.order, f.name)
			if f.denies {
				return 0
			}
			if f.deny > 0 && events >= f.deny {
				return events - 1
			}
			return events
		}
		end := func() error { f.closed++; return nil }
		return Trial{Run: run, Denies: f.denies, Close: end}, nil
	}}
}

func fakes(nanos ...int) (list []*fake, r *Runner, order *[]string) {
	clock := &tallyring.ManualClock{}
	order = &[]string{}
	for i, n := range nanos {
		name := string(rune('a' + i))
		list = append(list, &fake{name: name, nanos: n, clock: clock, order: order})
	}
	return list, &Runner{Rounds: 4, Span: time.Millisecond, Clock: clock}, order
}

func workloadOf(list []*fake, isTogether bool) Workload {
	w := Workload{Bench: "Fake", Floor: "a", Together: isTogether, Subtract: true}
	for _, f := range list {
		w.Entries = append(w.Entries, f.entry())
	}
	return w
}

// Goal: times per event, ratios to the floor, and one figure for each round, both ways of taking
// turns. Method: contenders that take 2, 6 and 10 ns of a clock that is set by hand.
func TestRunnerMeasuresEachInTurn(t *testing.T) {
	for _, isTogether := range []bool{true, false} {
		list, r, order := fakes(2, 6, 10)
		m, err := r.Run(workloadOf(list, isTogether))
		require.NoError(t, err)
		require.Len(t, m.Results, 3)
		for i, want := range []float64{2, 6, 10} {
			result := m.Results[i]
			assert.Equal(t, list[i].name, result.Name)
			assert.Equal(t, want, Median(result.Nanos))
			assert.Equal(t, want/2, Median(result.Ratios))
			if isTogether {
				assert.Equal(t, want-2, Median(result.Added))
			}
			assert.Len(t, result.Events, len(result.Nanos))
			assert.GreaterOrEqual(t, len(result.Nanos), r.Rounds)
		}
		want := []string{"a", "c", "a", "c", "a", "c"} // the floor stands beside each
		if isTogether {
			want = []string{"c", "a", "b", "a", "b", "c"} // the rounds begin by turns
		}
		assert.Equal(t, want, (*order)[len(*order)-len(want):])
		assert.Equal(t, 1, list[1].closed)
	}
}

// Goal: a contender that denies what it should allow, or allows what it should deny, ends the run.
func TestRunnerChecksAnswers(t *testing.T) {
	list, r, _ := fakes(2, 6)
	list[1].deny = 1000
	_, err := r.Run(workloadOf(list, true))
	assert.ErrorContains(t, err, "Fake: b allowed ")

	list, r, _ = fakes(2, 6)
	list[1].denies = true
	m, err := r.Run(workloadOf(list, true))
	require.NoError(t, err, "all denied, as it says")
	assert.Len(t, m.Results, 2)
}

// Goal: the memory of a contender is that of the keys which the workload or the contender itself
// names, and of none else. Method: 16 MB that are kept, said to be one key's or 16 keys'.
func TestRunnerMeasuresMemory(t *testing.T) {
	const size = 16 << 20
	for _, c := range []struct {
		ofWorkload, ofTrial int
		want                float64
	}{{1, 0, size}, {0, 16, size / 16}, {0, 0, 0}} {
		var kept []byte
		run := func(_, _, events int) int { return events }
		w := Workload{Bench: "Memory", Keys: c.ofWorkload, Entries: []Entry{
			{contender.Info{Name: "kept"}, func() (Trial, error) {
				kept = make([]byte, size)
				return Trial{Run: run, Keys: c.ofTrial, Close: func() error {
					kept[0]++
					return nil
				}}, nil
			}}}}
		r := &Runner{Rounds: 1, Span: time.Nanosecond, Clock: tallyring.Monotonic()}
		m, err := r.Run(w)
		require.NoError(t, err)
		assert.InDelta(t, c.want, m.Results[0].HeapPerKey, max(c.want/20, 1))
	}
}

// Goal: an error of making a contender names it.
func TestRunnerNamesWhoCannotBeMade(t *testing.T) {
	_, r, _ := fakes()
	w := Workload{Bench: "Fake", Together: true, Entries: []Entry{{contender.Info{Name: "x"},
		func() (Trial, error) { return Trial{}, errors.New("no memory") }}}}
	_, err := r.Run(w)
	assert.EqualError(t, err, "Fake: x: no memory")
}

// Goal: several workers run at once and all of their events count. Method: two workers that wait
// for each other inside of Run, which one after the other could not end.
func TestRunnerRunsWorkersAtOnce(t *testing.T) {
	var arrived atomic.Int32
	met := make(chan struct{})
	run := func(_, _, events int) int {
		if arrived.Add(1) == 2 {
			close(met)
		}
		<-met
		return events
	}
	r := &Runner{Rounds: 1, Span: time.Nanosecond, Clock: tallyring.Monotonic()}
	w := Workload{Bench: "Pair", Together: true, Workers: []int{2}, Entries: []Entry{
		{contender.Info{Name: "pair"}, func() (Trial, error) { return Trial{Run: run}, nil }}}}
	m, err := r.Run(w)
	require.NoError(t, err)
	assert.Equal(t, 2, m.Results[0].Workers)
	assert.Zero(t, m.Results[0].Events[0]%2)
}
