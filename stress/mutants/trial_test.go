package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tiny is a tree with one package, of which one function is not tested.
var tiny = map[string]string{
	"go.mod":  "module tiny\n\ngo 1.26\n",
	"go.work": "go 1.26\n\nuse .\n",
	"sum/sum.go": `package sum

// Sum adds.
func Sum(a, b int) int { return a + b }

// Twice doubles.
func Twice(a int) int { return 2 * a }

// Down counts down.
func Down(a int) {
	for a > 0 {
		a--
	}
}
`,
	"sum/sum_test.go": `package sum

import "testing"

func TestDown(t *testing.T) { Down(3) }

func TestSum(t *testing.T) {
	t.Run("small", func(t *testing.T) {
		if Sum(2, 3) != 5 {
			t.Fatal(Sum(2, 3))
		}
	})
}

func TestZero(t *testing.T) {
	if Sum(0, 0) != 0 {
		panic("not zero")
	}
}
`,
}

// tinyBench returns a worker on a copy of the tiny tree, made by copyTree.
func tinyBench(t *testing.T, timeout time.Duration) *bench {
	t.Helper()
	root, folder := t.TempDir(), t.TempDir()
	var files []string
	for name, text := range tiny {
		at := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		files = append(files, filepath.FromSlash(name))
	}
	require.NoError(t, copyTree(root, folder, append(files, "gone.go")))
	return &bench{folder, testRunner{folder, timeout}}
}

func tinyMutant(old, new string) mutant {
	return mutant{name: "tiny: one", file: "sum/sum.go", sites: []string{"./sum"},
		says: "It is wrong.", old: old, new: new}
}

// Goal: what becomes of a mutant is told as it is, and the tree is put back. Method: mutants of a
// tiny package, of each fate.
func TestTheFateOfAMutantIsTold(t *testing.T) {
	b := tinyBench(t, 5*time.Minute)
	require.NoError(t, b.pass(t.Context(), "./sum"))
	for _, fate := range []struct {
		old, new, by string
		caught       string // by which test
		trouble      string
	}{
		{old: "a + b", new: "a - b", caught: "./sum TestSum"},
		{old: "a + b", new: "a - b", by: "TestZero", caught: "./sum TestSum"},
		{old: "a + b", new: "a + b + 1", by: "TestZero", caught: "./sum TestZero"},
		{old: "a > 0", new: "a > 1"}, // survives
		{old: "2 * a", new: "a"},     // survives
		{old: "a + b", new: "a + c", trouble: "does not compile with it:"},
		{old: "a + c", new: "a", trouble: "occurs 0 times in sum/sum.go"},
		{old: "func ", new: "func  ", trouble: "occurs 3 times in sum/sum.go"},
	} {
		m := tinyMutant(fate.old, fate.new)
		m.by = fate.by
		o := b.try(t.Context(), m)
		assert.Equal(t, fate.caught != "", o.caught, fate)
		assert.Equal(t, fate.caught, o.by, fate)
		if fate.trouble == "" {
			assert.NoError(t, o.trouble, fate)
		} else if assert.Error(t, o.trouble, fate) {
			assert.Contains(t, o.trouble.Error(), fate.trouble)
		}
		text, err := os.ReadFile(filepath.Join(b.folder, "sum", "sum.go"))
		require.NoError(t, err)
		require.Equal(t, tiny["sum/sum.go"], string(text), "the tree must be as it was")
	}
}

// Goal: tests that run out of time catch a mutant that is known to hang, and no other.
func TestAHangIsCaughtOnlyWhereItIsSaid(t *testing.T) {
	b := tinyBench(t, 2*time.Second)
	m := tinyMutant("a--", "a++; a--")
	o := b.try(t.Context(), m)
	require.False(t, o.caught)
	require.ErrorContains(t, o.trouble, "ran out of time, and it does not say that it hangs")
	m.hangs = true
	o = b.try(t.Context(), m)
	require.NoError(t, o.trouble)
	require.True(t, o.caught)
	require.Equal(t, "./sum hangs", o.by)
}

// Goal: a tree whose tests fail is not mutated, and an end of the context is told. Method: the tiny
// tree with a mutant that stays.
func TestATreeThatFailsIsNoGround(t *testing.T) {
	b := tinyBench(t, 5*time.Minute)
	at := filepath.Join(b.folder, "sum", "sum.go")
	wrong := strings.Replace(tiny["sum/sum.go"], "a + b", "a - b", 1)
	require.NoError(t, os.WriteFile(at, []byte(wrong), 0o644))
	err := b.pass(t.Context(), "./sum")
	require.ErrorContains(t, err, "the tests of ./sum fail on the tree as it is, TestSum first:")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.pass(ctx, "./sum"), context.Canceled)
}

// Goal: each result is told once, and all stand in the order of the tasks, whoever did them.
func TestWorkersShareTheTasks(t *testing.T) {
	tasks := make([]int, 100)
	for i := range tasks {
		tasks[i] = i
	}
	var told []int
	results := spread([]*bench{{}, {}, {}}, tasks, func(_ *bench, i int) int { return -i },
		func(i int) { told = append(told, i) })
	require.Len(t, told, len(tasks))
	for i := range tasks {
		require.Equal(t, -i, results[i])
		require.Contains(t, told, -i)
	}
}

// Goal: the summary counts each fate, and only a list of caught mutants passes.
func TestOnlyCaughtMutantsPass(t *testing.T) {
	caught := outcome{mutant: mutant{name: "a: one"}, caught: true, by: "./a TestA"}
	survived := outcome{mutant: mutant{name: "a: two", says: "Bad."}}
	wrong := outcome{mutant: mutant{name: "a: three"}, trouble: os.ErrNotExist}
	var out bytes.Buffer
	require.NoError(t, summarize([]outcome{caught, caught}, &out))
	require.Equal(t, "2 mutants: 2 caught, 0 survived, 0 could not be tried\n", out.String())
	require.EqualError(t, summarize([]outcome{caught, survived}, &out), "survived: a: two")
	require.EqualError(t, summarize([]outcome{wrong, survived}, &out),
		"could not be tried: a: three")
	out.Reset()
	for _, o := range []outcome{caught, survived, wrong} {
		o.print(&out)
	}
	require.Regexp(t, `^caught    a: one +\./a TestA\nSURVIVED  a: two +Bad\.\n`+
		`ERROR     a: three +file does not exist\n$`, out.String())
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for line, says := range map[string]string{
		"-j 0":                   "-j is 0, want 1 to 64",
		"-run (":                 `-run is "(", want a regular expression`,
		"-timeout 0s":            "-timeout is 0s, want more than 0",
		"all":                    `unknown argument "all", want flags alone`,
		"-slow":                  "flag provided but not defined",
		"-run ^no-such-mutant$":  `no mutant is named "^no-such-mutant$", want one of the list`,
		"-quick -run ^no-such-$": "no mutant is named",
	} {
		var messages bytes.Buffer
		err := command(t.Context(), strings.Fields(line), &messages, &messages)
		if assert.Error(t, err, line) {
			assert.Contains(t, err.Error(), says)
		}
	}
	require.NoError(t, command(t.Context(), []string{"-h"}, &bytes.Buffer{}, &bytes.Buffer{}))
}
