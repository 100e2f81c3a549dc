package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/workload"
)

var here = Origin{System: "linux", Arch: "amd64", CPU: "A CPU", Go: "go1.99", Commit: "abc",
	Command: "go run ./bench", Processors: 2}

// result is a contender with some rounds.
func result(name string, kind contender.Kind, nanos ...float64) workload.Result {
	r := workload.Result{Info: contender.Info{Name: name, Kind: kind}, Workers: 1, Nanos: nanos}
	for range nanos {
		r.Events = append(r.Events, 1000)
		r.Ratios = append(r.Ratios, 2)
	}
	return r
}

func measured(results ...workload.Result) []workload.Measured {
	return []workload.Measured{{Results: results, Workload: workload.Workload{
		Bench: "OneKey/workload=allowed", Title: "One limit", About: "About it."}}}
}

// Goal: the text is what benchstat reads: configuration lines, then one line for each round, with
// pairs of value and unit. Method: by hand.
func TestTextIsInBenchmarkFormat(t *testing.T) {
	r := result("tallyring", contender.Engine, 4.567, 123.4)
	r.ProcessPerKey, r.HeapPerKey, r.AllocsPerEvent = 22.25, 21, 2
	var b strings.Builder
	require.NoError(t, Text(&b, here, measured(r)))
	const line = "BenchmarkOneKey/workload=allowed/impl=tallyring-1\t1000\t"
	const rest = " ns/op\t2.00 x-floor\t0 B/op\t2.00 allocs/op"
	assert.Equal(t, `goos: linux
goarch: amd64
pkg: github.com/tallyring/tallyring/bench
cpu: A CPU
go: go1.99
commit: abc
command: go run ./bench
processors: 2

`+line+"4.57"+rest+"\t21.0 heap-B/key\t22.2 process-B/key\n"+line+"123"+rest+"\n", b.String())
	b.Reset()
	evil := here
	evil.Command = "go run ./bench -run 'a\nBenchmarkFake 1 0 ns/op'"
	require.NoError(t, Text(&b, evil, nil))
	assert.NotContains(t, b.String(), "\nBenchmarkFake", "no value begins a line of its own")
}

// Goal: percentiles have units of their own, so that nobody takes them for the time of a decision.
func TestTextNamesPercentiles(t *testing.T) {
	r := result("tallyring", contender.Engine, 400)
	r.Variant, r.Latency = "flood=yes", &workload.Latency{P50: 50, P99: 400, P999: 900}
	var b strings.Builder
	require.NoError(t, Text(&b, here, measured(r)))
	assert.Contains(t, b.String(), "allowed/flood=yes/impl=tallyring-1\t1000\t400 p99-ns\t"+
		"50.0 p50-ns\t900 p99.9-ns\n")
	assert.NotContains(t, b.String(), "ns/op")
}

// Goal: numbers keep three digits that count.
func TestFiguresHaveThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 0.0335: "0.034", 1: "1.00", 9.876: "9.88", 55.55: "55.5", 1234.4: "1234",
	} {
		assert.Equal(t, want, figure(value))
	}
}

// Goal: nothing that is measured or given can write markup into the page. Method: names and texts
// full of it.
func TestPageEscapes(t *testing.T) {
	const evil = `<script>alert("1")</script>&'`
	r := result(evil, contender.Peer, 1, 2, 3)
	r.Note, r.Module = evil, evil
	m := measured(r, result("tallyring", contender.Engine, 5))
	m[0].Title, m[0].About = evil, evil
	origin := here
	origin.CPU, origin.Command, origin.Commit = evil, evil, evil
	var b strings.Builder
	require.NoError(t, Page(&b, origin, m))
	assert.NotContains(t, b.String(), "<script")
	assert.NotContains(t, b.String(), `alert("1")`)
	assert.Contains(t, b.String(), "&lt;script&gt;")
}

// Goal: the page needs nothing beside itself, follows the reader's choice of light or dark, fits a
// phone, and ends with the losses.
func TestPageStandsAlone(t *testing.T) {
	m := measured(result("tallyring", contender.Engine, 5, 6), result("x", contender.Peer, 2, 3))
	var b strings.Builder
	require.NoError(t, Page(&b, here, m))
	page := b.String()
	for _, foreign := range []string{"http://", "https://", "<link", "src=", "@import", "url("} {
		assert.NotContains(t, page, foreign)
	}
	for _, wanted := range []string{"prefers-color-scheme: dark", "width=device-width", "A CPU",
		"go1.99", "<code>abc</code>", "<code>go run ./bench</code>", "<svg", "5.50"} {
		assert.Contains(t, page, wanted)
	}
	assert.NotContains(t, page, "ZgotmplZ", "the template found no value unsafe")
	end := strings.LastIndex(page, "Where we lose")
	assert.Greater(t, end, strings.LastIndex(page, "About it."))
	assert.Contains(t, page[end:], "<td>x (peer)</td>")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// Goal: a page or a text that cannot be written is an error.
func TestWritersReportErrors(t *testing.T) {
	m := measured(result("tallyring", contender.Engine, 5))
	assert.EqualError(t, Text(full{}, here, m), "disk full")
	assert.EqualError(t, Page(full{}, here, m), "disk full")
}

// Goal: losses are exactly the figures in which a peer or a baseline beats the engine's best, each
// with whether that is clear. Method: by hand, one of each kind.
func TestLossesAreComputed(t *testing.T) {
	slow := result("tallyring-slow", contender.Engine, 90)
	engine := result("tallyring", contender.Engine, 10, 11, 12)
	engine.ProcessPerKey = 22
	clear := result("clear", contender.Peer, 4, 5, 6)
	close := result("close", contender.Baseline, 9, 9.5, 12)
	slower := result("slower", contender.Peer, 20)
	slower.ProcessPerKey = 11
	floor := result("floor", contender.Floor, 1)
	many := result("many", contender.Peer, 1)
	many.Workers = 2
	losses := Losses(measured(floor, slow, engine, clear, close, slower, many))
	require.Len(t, losses, 3, "a group without the engine loses nothing")
	assert.Equal(t, Loss{"One limit", "time", "tallyring", "clear", 11, 5, "ns", contender.Peer,
		true}, losses[0])
	assert.Equal(t, "close", losses[1].Other)
	assert.False(t, losses[1].IsClear, "their intervals overlap")
	assert.Equal(t, "memory", losses[2].Figure)
	assert.Equal(t, 2.0, losses[2].Times())
	assert.Empty(t, Losses(measured(engine, floor)))
}

// Goal: a machine whose processors were busy is told apart from one whose were free.
func TestWarningsFindABusyMachine(t *testing.T) {
	of := func(nanosOfTwo float64) []workload.Measured {
		two := result("f", contender.Floor, nanosOfTwo)
		two.Workers = 2
		m := measured(result("f", contender.Floor, 2), two)
		m[0].Floor, m[0].Apart = "f", true
		return m
	}
	assert.Empty(t, Warnings(of(1.05)))
	require.Len(t, Warnings(of(2)), 1)
	assert.Contains(t, Warnings(of(2))[0], "were 1.00 times as fast")
	shared := of(2)
	shared[0].Apart = false
	assert.Empty(t, Warnings(shared), "workers that share lines slow each other down")
}
