package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// line is a request of a client at a second.
func line(client, second string) string {
	return client + ` - - [04/Mar/2026:05:06:` + second + ` +0000] "GET /a HTTP/1.1" 200 1` + "\n"
}

// command runs the command in this process.
func command(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// Goal: bad input is one line on standard error that names the value and the cure, nothing on
// standard output, and a status that is not 0. Method: each kind of bad input.
func TestErrorsAreOneLine(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := io.WriteString(w, strings.Repeat(line("192.0.2.1", "07"), 9999))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(cut, z.Bytes()[:z.Len()/2], 0o600))
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-limit 0", 2, "limit 0 would deny everything, want 1 or more"},
		{"-limit -1", 2,
			`invalid value "-1" for flag -limit: want a whole number, 1 to 18446744073709551614`},
		{"-limit many", 2, `invalid value "many" for flag -limit: want a whole number`},
		{"-limit 18446744073709551616", 2, "for flag -limit: want a whole number"},
		{"-limit 18446744073709551615", 2, "for flag -limit: want a whole number"},
		{"-limit 18446744073709551614", 2, "18446744073709551614"},
		{"-window 0s", 2, "window 0s is not a length of time, want more than 0"},
		{"-window -1m", 2, "window -1m0s is not a length of time, want more than 0"},
		{"-window 1", 2, `invalid value "1" for flag -window: want a duration such as 1m`},
		{"-window 100000h", 2, "window 100000h0m0s is too long, want at most"},
		{"-resolution 7s", 2, "resolution 7s does not divide the window 1m0s, want such as 6s"},
		{"-resolution 1s, -window 1m", 2, `resolution "" is no duration, want such as 10s`},
		{"-window 10s -resolution 1m", 2, "resolution 1m0s does not fit the window 10s"},
		{"-key ip", 2, "want one of client, path, agent, client+path, client+agent"},
		{"-format xml", 2, `invalid value "xml" for flag -format: want table or json`},
		{"-top -1", 2, `invalid value "-1" for flag -top: want a whole number, 0 to 1000`},
		{"-top many", 2, `invalid value "many" for flag -top: want a whole number, 0 to 1000`},
		{"-nope", 2, "flag provided but not defined: -nope, see tallyring replay -h"},
		{"- -", 2, `"-" is there twice, want standard input once`},
		{filepath.Join(dir, "none.log"), 1, "none.log: no such file or directory"},
		{dir, 1, dir + " is a directory, want a file"},
		{cut, 1, "cut.gz is a truncated gzip file: it ends after "},
		{"-", 1, "no request in 0 lines of standard input, want an access log"},
	} {
		args := append([]string{"replay"}, strings.Fields(c.args)...)
		status, stdout, stderr := command("", args...)
		assert.Equal(t, c.status, status, c.args)
		assert.Empty(t, stdout, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), c.args)
		assert.True(t, strings.HasPrefix(stderr, "tallyring: "), stderr)
		assert.NotContains(t, stderr, "goroutine", c.args)
	}
	status, _, stderr := command("", "replai")
	assert.Equal(t, 2, status)
	assert.Equal(t, "tallyring: unknown command \"replai\", want replay, accuracy, help or "+
		"version\n", stderr)
}

// Goal: help and the version are asked for in any usual way, and go to standard output. Method: all
// of them.
func TestHelpAndVersion(t *testing.T) {
	for args, want := range map[string]string{
		"": "tallyring replay [flags] [FILE...]", "help": "tallyring replay [flags] [FILE...]",
		"--help": "tallyring replay", "replay -h": "-resolution", "replay --help": "-limit",
		"version": "tallyring ",
	} {
		status, stdout, stderr := command("", strings.Fields(args)...)
		assert.Equal(t, 0, status, args)
		assert.Contains(t, stdout, want, args)
		assert.Empty(t, stderr, args)
	}
}

// Goal: lines that are no request are counted, the first are shown with file, number and reason,
// and the status is 0. Method: a log on standard input with empty lines and seven others, one of
// them with a terminal sequence, and directives, which are no fault.
func TestSkippedLines(t *testing.T) {
	log := line("192.0.2.1", "07") + "\n \r\n" + "bad \x1b[31m\n" + strings.Repeat("worse\n", 5) +
		"#Version: 1.0\n" + line("192.0.2.2", "08") +
		`192.0.2.3 - - [04/Mar/2026:05:06:09 +0000] "GE`
	status, stdout, stderr := command(log, "replay", "-format", "json", "-")
	require.Equal(t, 0, status, stderr)
	assert.Contains(t, stdout, `"lines":10,"parsed":2,"skipped":8,"keys":2,`)
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	require.Len(t, lines, 6)
	assert.Equal(t, `standard input:4: skipped, not a line of a known access log: bad \x1b[31m`,
		lines[0])
	assert.Equal(t, "standard input:8: skipped, not a line of a known access log: worse", lines[4])
	assert.Equal(t, "and 2 more lines skipped", lines[5])
}

// Goal: several inputs are one log, in the order of time. Method: two files, one of them compressed
// under a plain name, given out of order and between flags; each client alone stays within the
// limit, but not the two files together.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	late, early := filepath.Join(dir, "late"), filepath.Join(dir, "early.log")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := io.WriteString(w, line("192.0.2.1", "09"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(late, z.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(early, []byte(line("192.0.2.1", "07")), 0o600))
	got := replayJSON(t, late, "-limit", "1", early, "-window", "10s")
	assert.Equal(t, 2, got.Parsed)
	assert.Equal(t, 1, got.Keys)
	require.Len(t, got.Schemes, 8)
	assert.Equal(t, 1, got.Schemes[0].Denied)
	got = replayJSON(t, "-limit", "1", "-window", "1s", "--", late, early)
	assert.Equal(t, 0, got.Schemes[0].Denied)
}

// Goal: -key counts by what it names. Method: three requests of two clients for two paths.
func TestKeyFlag(t *testing.T) {
	for key, want := range map[string]string{
		"client": `"keys":2,`, "path": `"keys":1,`, "client+path": `"keys":2,`,
		"agent": `"keys":1,`,
	} {
		log := line("192.0.2.1", "07") + line("192.0.2.1", "07") + line("192.0.2.2", "07")
		status, stdout, stderr := command(log, "replay", "-format", "json", "-key", key, "-")
		require.Equal(t, 0, status, stderr)
		assert.Contains(t, stdout, want, key)
	}
}

// Goal: the report of the built-in sample, as a table and as JSON, stays what it is. Method: golden
// files; "go test . -update" writes them anew.
func TestSampleReports(t *testing.T) {
	for file, args := range map[string][]string{
		"sample.table.golden": {"replay"},
		"sample.json.golden":  {"replay", "-format", "json", "-top", "3"},
		"parts.table.golden": {
			"replay", "-limit", "5", "-window", "10s", "-resolution", "5s,1/6", "-top", "0",
		},
	} {
		status, stdout, stderr := command("not read", args...)
		require.Equal(t, 0, status, stderr)
		assert.Empty(t, stderr)
		golden := filepath.Join("testdata", file)
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(stdout), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), stdout, file)
	}
}
