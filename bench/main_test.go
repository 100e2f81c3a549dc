package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Goal: the command measures what -run selects, and leaves the text and the page where it says.
func TestCommandWritesTextAndPage(t *testing.T) {
	folder := t.TempDir()
	page := filepath.Join(folder, "pages", "page.html")
	var messages strings.Builder
	args := []string{"-quick", "-run", "^Clock$", "-out", filepath.Join(folder, "text")}
	args = append(args, "-html", page)
	require.NoError(t, bench(args, &messages))
	text, err := os.ReadFile(filepath.Join(folder, "text", "bench.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "\nBenchmarkClock/impl=tallyring-cycle-1\t")
	assert.Contains(t, string(text), "\ncommand: go run ./bench -quick -run '^Clock$' -out ")
	assert.NotContains(t, string(text), "BenchmarkOneKey")
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(html), "Clocks, without a decision")
	assert.Contains(t, messages.String(), "Where we lose")
}

// Goal: the command that stands beside the figures can be pasted into a shell.
func TestCommandLineIsQuoted(t *testing.T) {
	assert.Equal(t, `go run ./bench -quick -run 'OneKey|Hot' -out it/s`,
		commandLine([]string{"-quick", "-run", "OneKey|Hot", "-out", "it/s"}))
	assert.Equal(t, `go run ./bench -out 'it'\''s' ''`,
		commandLine([]string{"-out", "it's", ""}))
}

// Goal: wrong flags are named, and nothing is measured.
func TestCommandRefusesWrongFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-run (":          "-run: error parsing regexp",
		"-run NoSuchName": "no workload that can be measured here matches \"NoSuchName\"",
		"Keys":            "unknown argument \"Keys\": workloads are chosen with -run",
		"-fast":           "flag provided but not defined: -fast",
	} {
		err := bench(strings.Fields(args), io.Discard)
		assert.ErrorContains(t, err, want, args)
	}
	assert.NoError(t, bench([]string{"-h"}, io.Discard))
}
