package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// packed tells whether a text begins like a compressed file.
func packed(text string) bool {
	for _, magic := range []string{
		"\x1f\x8b", "\x28\xb5\x2f\xfd", "BZh", "\xfd7zXZ\x00", "PK\x03\x04",
	} {
		if strings.HasPrefix(text, magic) {
			return true
		}
	}
	return false
}

// filled returns how many lines of a text hold anything.
func filled(text string) (lines int) {
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	return lines
}

// Goal: whatever a log holds, the replay does not panic, every line that holds anything is either
// parsed or skipped, what is skipped is reported, and the same log compressed gives the same
// report. Method: fuzzing, with lines of several formats and broken ones to start from.
func FuzzReplay(f *testing.F) {
	const good = `192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] "GET / HTTP/1.1" 200 1 "-" "x"` + "\n"
	for _, seed := range []string{
		good, good + "\n \r\n" + good, "\ufeff" + good + "half a line [04/Mar/2026:05:0",
		good + `192.0.2.1 - - [04/Mar/2026:05:06:06 +0530] "" 400 0 "-" "\"q\""` + "\n",
		`{"remote_addr":"192.0.2.1","msec":1.5e9,"request":"\x16\x03"}` + "\n" + good,
		"#Fields: date time c-ip cs-uri\n2026-03-04 05:06:07 2001:db8::1 /\n" +
			strings.Repeat("x\n", 7),
		good + "\x00\xff\n" + good[:30], "\x1f\x8b\x08\x00\x00", "",
	} {
		f.Add(seed)
	}
	counts := regexp.MustCompile(`no request in (\d+) lines of standard input`)
	f.Fuzz(func(t *testing.T, log string) {
		flags := []string{"replay", "-format", "json", "-window", "10s", "-"}
		status, stdout, stderr := command(log, flags...)
		if packed(log) {
			require.NotContains(t, stderr, "panic")
			return
		}
		lines := filled(log)
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, err := io.WriteString(z, log)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		again, same, _ := command(zipped.String(), flags...)
		require.Equal(t, []any{status, stdout}, []any{again, same}, "compressed")
		if status != 0 {
			require.Equal(t, 1, status)
			require.Empty(t, stdout)
			found := counts.FindStringSubmatch(stderr)
			require.NotNil(t, found, stderr)
			require.Equal(t, strconv.Itoa(lines), found[1])
			return
		}
		var report struct{ Lines, Parsed, Skipped, Keys int }
		require.NoError(t, json.Unmarshal([]byte(stdout), &report))
		require.Equal(t, lines, report.Lines)
		require.Equal(t, report.Lines, report.Parsed+report.Skipped)
		require.LessOrEqual(t, report.Keys, report.Parsed)
		require.Positive(t, report.Keys)
		told := complaintsIn(t, stderr)
		require.LessOrEqual(t, told, report.Skipped)
		if !strings.ContainsAny(log, "#{") { // directives, alone or in an envelope, are no fault
			require.Equal(t, report.Skipped, told)
		}
	})
}

// complaintsIn returns how many skipped lines a standard error tells of, each on a line of its own
// with its number, or in the line that counts the others.
func complaintsIn(t *testing.T, stderr string) (n int) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSuffix(stderr, "\n"), "\n") {
		var more int
		switch {
		case line == "":
		case regexp.MustCompile(`^standard input:\d+: skipped, .+: `).MatchString(line):
			n++
		default:
			_, err := fmt.Sscanf(line, "and %d more lines skipped", &more)
			require.NoError(t, err, "%q", line)
			n += more
		}
	}
	return n
}

// Goal: no command line makes the parsing of flags panic; it is refused in one line, or every value
// is in its range. Method: fuzzing, one argument to a line.
func FuzzFlags(f *testing.F) {
	for _, seed := range []string{
		"", "-limit\n10\n-window\n1m\nfile", "-limit=0", "-window=1h\n-resolution=1m,10s,1/7",
		"-resolution\n,\n-", "-\n-", "--\n-x", "-key=client+path\n-format=json\n-top=1000",
		"-window=9223372036854775807ns\n-resolution=1ns", "-resolution=1/0", "-html=-", "-h",
		"-top=-1", "-top=1001", "-limit=18446744073709551615", "-window=-1s", "-format=xml",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var help bytes.Buffer
		opts, err := parseFlags(strings.Split(text, "\n"), &help)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			require.NotEmpty(t, err.Error())
			return
		}
		require.Empty(t, help.String())
		require.NoError(t, opts.plan.Validate())
		require.Positive(t, opts.limit)
		require.Less(t, opts.limit, tallyring.Unlimited)
		require.Positive(t, opts.window)
		require.LessOrEqual(t, opts.window, tallyring.MaxLength)
		require.Contains(t, []string{"table", "json"}, opts.format)
		require.GreaterOrEqual(t, opts.top, 0)
		require.LessOrEqual(t, opts.top, maxTop)
		for _, r := range opts.plan.Resolutions {
			require.GreaterOrEqual(t, r.Slots(), 2)
			require.LessOrEqual(t, r.Slots(), tallyring.MaxSlots)
		}
	})
}
