package main

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small are arguments for a short mix.
var small = []string{"accuracy", "-clients", "3", "-windows", "12"}

// Goal: bad input is one line on standard error that names the value and the cure, and a status
// that is not 0. Method: each kind of bad input.
func TestAccuracyErrorsAreOneLine(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-limit 0", 2, "limit 0 would deny everything, want 1 or more"},
		{"-window 0s", 2, "window 0s is not a length of time"},
		{"-mix slow", 2, `mix "slow" is no kind of client, want all or a list of steady`},
		{"-clients 0", 2, "0 clients of each kind, want 1 to 1000000"},
		{"-clients x", 2, `invalid value "x" for flag -clients: want a whole number`},
		{"-windows -1", 2, "-1 windows of 1m0s, want 1 to"},
		{"-load 0", 2, "load 0 % of the limit, want 1 to 100000"},
		{"-limit 1000000", 2, "requests, want at most 20000000: lower the clients"},
		{"-seed -1", 2, `invalid value "-1" for flag -seed: want a whole number, 0 or more`},
		{"-eps 0", 2, `invalid value "0" for flag -eps: want numbers of 0.001 to 1`},
		{"-eps 0.1,0.1", 2, "want each error once"},
		{"-html -", 2, `invalid value "-" for flag -html: want the name of a file`},
		{"-nope", 2, "flag provided but not defined: -nope, see tallyring accuracy -h"},
		{"-seed 2 some.log", 2, "a FILE and flags of made-up requests, want one or the other"},
		{"none.log", 1, "none.log: no such file or directory"},
		{"-", 1, "no request in 0 lines of standard input, want an access log"},
		{"-clients 1 -windows 4 -html " + filepath.Join(t.TempDir(), "no", "page.html"), 1,
			"page.html: no such file or directory"},
	} {
		args := append([]string{"accuracy"}, strings.Fields(c.args)...)
		status, stdout, stderr := command("", args...)
		assert.Equal(t, c.status, status, c.args)
		assert.Empty(t, stdout, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), c.args)
		assert.True(t, strings.HasPrefix(stderr, "tallyring: "), stderr)
	}
	status, stdout, _ := command("", "accuracy", "-h")
	assert.Equal(t, 0, status)
	assert.Contains(t, stdout, "-mix")
}

// Goal: the report of a mix stays what it is, and depends on the seed alone. Method: golden files;
// "go test . -update" writes them anew; the same again, and another seed.
func TestAccuracyReports(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("the report holds the bytes of a log, which are others on a 32-bit machine")
	}
	for file, more := range map[string][]string{
		"accuracy.table.golden": nil,
		"accuracy.json.golden":  {"-format", "json"},
	} {
		status, stdout, stderr := command("not read", append(small, more...)...)
		require.Equal(t, 0, status, stderr)
		assert.Empty(t, stderr)
		golden := filepath.Join("testdata", file)
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(stdout), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), stdout, file)
		_, other, _ := command("", append(append(small, more...), "-seed", "2")...)
		assert.NotEqual(t, stdout, other)
	}
}

// Goal: the table stays within 80 columns, with the claims too, and all of them are there. Method:
// the longest report there is, and the same as JSON.
func TestAccuracyClaims(t *testing.T) {
	status, stdout, stderr := command("", append(small, "-claims")...)
	require.Equal(t, 0, status, stderr)
	for _, line := range strings.Split(stdout, "\n") {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	status, object, stderr := command("", append(small, "-claims", "-format", "json")...)
	require.Equal(t, 0, status, stderr)
	var got struct {
		Claims []struct{ Claim, From, Run, Figure, Verdict, Because string }
	}
	require.NoError(t, json.Unmarshal([]byte(object), &got))
	require.Greater(t, len(got.Claims), 10)
	words := strings.Join(strings.Fields(stdout), " ")
	for _, c := range got.Claims {
		for _, text := range []string{c.Claim, c.Run, c.Figure, c.Verdict + ": " + c.Because} {
			assert.Contains(t, words, strings.Join(strings.Fields(text), " "))
		}
	}
}

// page runs the command with -html and returns the page.
func page(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "page.html")
	status, stdout, stderr := command(stdin, append(args, "-html", name)...)
	require.Equal(t, 0, status, stderr)
	require.NotEmpty(t, stdout)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// voidTags are the elements of HTML that end by themselves; the pages have no others.
var voidTags = regexp.MustCompile(`<(meta|input)([^>]*[^/])>`)

// wellFormed checks that every element of a page ends, that nothing was refused by the template,
// and that nothing outside is named.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	require.NotContains(t, text, "ZgotmplZ")
	require.NotRegexp(t, `(?i)(src|href)\s*=\s*["']?(https?:|//)|url\(|@import`, text)
	body := strings.Replace(text, "<!doctype html>", "", 1)
	if from := strings.Index(body, "<script>"); from >= 0 {
		to := strings.Index(body, "</script>")
		body = body[:from] + body[to+len("</script>"):]
	}
	body = voidTags.ReplaceAllString(body, "<$1$2/>")
	body = strings.ReplaceAll(body, `hidden>`, `hidden="">`)
	d := xml.NewDecoder(strings.NewReader(body))
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			for _, a := range start.Attr {
				if a.Name.Local == "id" {
					require.False(t, ids[a.Value], "id %s is there twice", a.Value)
					ids[a.Value] = true
				}
				if a.Name.Local == "aria-labelledby" {
					require.NotEmpty(t, a.Value)
				}
			}
		}
	}
}

// Goal: the page needs nothing beside itself, is well-formed, and has every chart with a name,
// units and words for who cannot see it. Method: read as XML, and counted.
func TestAccuracyPage(t *testing.T) {
	text := page(t, "", append(small, "-claims")...)
	wellFormed(t, text)
	for _, want := range []string{
		"Error against slots", "Error against bytes", "One busy client", "All figures",
		"What the documents claim", "prefers-color-scheme: dark", "bytes per key", "slots of the " +
			"ring",
		"time from the peak", "exphist, error 0.1", "sliding, 61 slots", "not reproduced",
	} {
		assert.Contains(t, text, want)
	}
	charts := strings.Count(text, `role="img"`)
	assert.Equal(t, 4+2+13, charts)
	assert.Equal(t, charts, strings.Count(text, "<desc "))
	assert.NotContains(t, text, "<desc></desc>")
	assert.Equal(t, text, page(t, "", append(small, "-claims")...), "the same page again")
}

// Goal: a log in which nobody comes near the limit has a page too. Method: two requests.
func TestAccuracyPageWithoutErrors(t *testing.T) {
	log := line("192.0.2.1", "07") + line("192.0.2.2", "09")
	text := page(t, log, "accuracy", "-limit", "1000", "-")
	wellFormed(t, text)
	assert.NotContains(t, text, "NaN")
	assert.NotContains(t, text, "Inf")
}

// Goal: the replay's page shows the effect of each limit as the replay finds it, without a script,
// and what strangers write is text in it. Method: a log of one busy client with markup for a name.
func TestReplayPage(t *testing.T) {
	evil := `<script>alert(1)</script>`
	log := strings.Repeat(strings.Replace(line("192.0.2.1", "07"), "/a", "/"+evil, 1), 30) +
		line("192.0.2.2", "08")
	text := page(t, log, "replay", "-key", "path", "-limit", "12", "-")
	assert.Equal(t, 1, strings.Count(text, "<script"))
	assert.NotContains(t, text, evil)
	wellFormed(t, text)
	for _, want := range []string{
		"At 12 per 1m, 58.1% of requests, from 1 of 2 paths, would be denied.",
		`type="range"`, `<label for="limit">`, "At 30 per 1m, no request would be denied.",
		"requests per ", "prefers-color-scheme: dark",
	} {
		assert.Contains(t, text, want)
	}
	// 31 requests, 18 of them denied at 12 per minute.
	assert.Contains(t, text, `<td class="n">12</td><td class="n">18</td><td class="n">58.06%</td>`)
	wellFormed(t, page(t, "", "replay"))
	wellFormed(t, page(t, line("192.0.2.1", "07"), "replay", "-top", "0", "-"))
}
