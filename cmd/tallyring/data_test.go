package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// dataFolder returns the folder of real logs, which is no part of the project: TALLYRING_DATA, or
// ../shared/data beside the repository. The test is skipped where there is none, and fails instead
// where TALLYRING_REQUIRE_DATA is set.
func dataFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("TALLYRING_DATA")
	for at := "."; folder == ""; at = filepath.Join(at, "..") {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			folder = filepath.Join(at, "..", "shared", "data")
		}
		if full, err := filepath.Abs(at); err != nil || full == filepath.Dir(full) {
			break
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "SOURCES.md")); err != nil {
		const cure = "no real logs here: set TALLYRING_DATA to the folder that holds SOURCES.md"
		if os.Getenv("TALLYRING_REQUIRE_DATA") != "" {
			t.Fatal(cure)
		}
		t.Skip(cure)
	}
	return folder
}

// countLines counts the lines of a file that are not empty, without the code under test.
func countLines(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(f)
		require.NoError(t, err)
	}
	lines := 0
	for scan := bufio.NewScanner(r); scan.Scan(); {
		if strings.TrimSpace(scan.Text()) != "" {
			lines++
		}
	}
	return lines
}

// oddRequests says how many lines of each file a person would call requests. The others are error
// logs, start-up messages, refused handshakes, directives, markup, and one line of x.
var oddRequests = map[string]int{
	"beats-apache-test.log": 7, "beats-haproxy.log": 5, "beats-nginx-test.log": 7,
	"beats-nginx-with-host.log": 7, "crowdsec-apache-combined.log": 7,
	"crowdsec-apache-malformed.log": 11, "crowdsec-aws-alb.log": 14,
	"crowdsec-aws-cloudfront-tsv.log": 2, "crowdsec-caddy-json.log": 10,
	"crowdsec-dos-burst-combined.log": 356, "crowdsec-envoy-json-crawl.log": 41,
	"crowdsec-envoy-json-cri.log": 10, "crowdsec-haproxy.log": 2,
	"crowdsec-invalid-http-versions.log": 6, "crowdsec-ipv6-actual-budget-logs.log": 9,
	"crowdsec-ipv6-calibre-web-logs.log": 16, "crowdsec-nginx-combined.log": 8,
	"crowdsec-nginx-malformed.log": 12, "crowdsec-nginx-proxy-manager.log": 12,
	"crowdsec-npmplus.log": 8, "crowdsec-traefik-clf.log": 7, "crowdsec-traefik-json-80.log": 80,
	"crowdsec-traefik-json.log": 6, "crowdsec-upsun-json.log": 1,
	"crowdsec-vhost-prefixed-malformed.log": 12, "crowdsec-zoraxy.log": 13,
	"lnav-access_log.0.log": 3, "lnav-access_log.1.log": 1, "lnav-bad_access_log.0.log": 3,
	"lnav-caddy_log.0.log": 4, "lnav-caddy_log.1.log": 4, "lnav-cloudflare.1.log": 15,
	"lnav-cloudflare.json.log": 1, "lnav-crlf.0.log": 0, "lnav-haproxy.0.log": 13,
	"lnav-invalid_utf8.0.log": 0, "lnav-regexp_access_log.0.log": 2,
	"lnav-syslog_with_access_log.0.log": 2, "lnav-uwsgi.0.log": 19, "lnav-w3c.0.log": 1,
	"lnav-w3c.1.log": 1, "lnav-w3c.2.log": 14, "lnav-w3c.3.log": 3, "lnav-w3c.4.log": 2,
	"lnav-w3c.5.log": 1, "lnav-w3c.6.log": 1, "logparser-broken-middle-line.log": 16,
	"logparser-java-test-lines.log": 35,
}

// Goal: every line of the odd files is either a request or skipped, and the requests are those that
// a person sees. Method: each file through the command's own reading, against a count by hand; then
// the whole folder at once, replayed, although its lines lie 26 years apart.
func TestOddFiles(t *testing.T) {
	folder := filepath.Join(dataFolder(t), "odd")
	names, err := filepath.Glob(filepath.Join(folder, "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	lines, parsed := 0, 0
	for _, name := range names {
		want, known := oddRequests[filepath.Base(name)]
		require.True(t, known, "%s is new: look at it and say how many requests it holds", name)
		c := collector{
			events: replay.NewEvents(replay.ByClient), complain: complainer{out: io.Discard},
		}
		_, err := c.readAll([]string{name}, nil)
		require.NoError(t, err)
		assert.Equal(t, countLines(t, name), c.lines, name)
		assert.Equal(t, want, c.parsed, name)
		assert.Equal(t, c.parsed, c.events.Len(), name)
		lines, parsed = lines+c.lines, parsed+c.parsed
	}
	got := replayJSON(t, append([]string{"-limit", "3"}, names...)...)
	assert.Equal(t, lines, got.Lines)
	assert.Equal(t, parsed, got.Parsed)
	assert.Equal(t, lines-parsed, got.Skipped)
	for _, s := range got.Schemes {
		if s.Name == "log" || s.Name == "strict" {
			assert.LessOrEqual(t, s.WorstTrailing, 3)
		}
	}
}

// findings is the part of the JSON that is promised.
type findings struct {
	Lines, Parsed, Skipped, Keys, Limit int
	Window                              string
	Schemes                             []struct {
		Name          string
		Slots, Denied int
		WrongAllow    int `json:"wrong_allow"`
		WrongDeny     int `json:"wrong_deny"`
		WorstTrailing int `json:"worst_trailing"`
	}
}

// replayJSON runs the command in this process and decodes what it writes.
func replayJSON(t *testing.T, args ...string) findings {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(append([]string{"replay", "-format", "json"}, args...), nil, &out, &errs)
	require.Equal(t, 0, status, errs.String())
	var f findings
	d := json.NewDecoder(&out)
	require.NoError(t, d.Decode(&f))
	require.Equal(t, io.EOF, d.Decode(new(any)), "more than one object on standard output")
	return f
}

// nasaFigures are those of the independent reference: for each limit and scheme the denied, and
// where they are known the wrong allows and wrong denies.
var nasaFigures = []struct {
	args    []string
	limit   int
	figures map[string][]int // by name and slots
}{
	{[]string{"-limit", "5", "-window", "10s"}, 5, map[string][]int{
		"log 0": {1896}, "fixed 1": {1107, 824, 35}, "sliding 2": {2012, 145, 261},
		"sliding 3": {2085, 49, 238}, "sliding 7": {2054, 25, 183}, "sliding 61": {2035, 25, 164},
		"strict 7": {2088},
	}},
	{[]string{"-limit", "10", "-window", "60s"}, 10, map[string][]int{
		"log 0": {1015}, "fixed 1": {535, 546, 66}, "sliding 2": {883, 287, 155},
		"sliding 3": {1006, 118, 109}, "sliding 7": {1037, 56, 78}, "sliding 61": {1042, 16, 43},
		"strict 7": {1152},
	}},
	{[]string{"-limit", "100", "-window", "3600s"}, 100, map[string][]int{
		"log 0": {224}, "fixed 1": {59, 198, 33}, "sliding 2": {171, 100, 47},
		"sliding 3": {219, 28, 23}, "sliding 7": {218, 15, 9}, "sliding 61": {224, 2, 2},
		"strict 7": {259},
	}},
}

// Goal: the figures of the independent reference on a real log, to the last digit, and the bounds
// of each scheme. Method: the NASA log through the command; 10 s in 6 and in 60 buckets are widths
// of no whole nanosecond, given as parts of the window.
func TestNASAFigures(t *testing.T) {
	log := filepath.Join(dataFolder(t), "logs", "nasa-19950801.clf.log.gz")
	for _, c := range nasaFigures {
		got := replayJSON(t, append(c.args, "-resolution", "1/1,1/2,1/6,1/60", log)...)
		assert.Equal(t, 30969, got.Lines)
		assert.Equal(t, 30969, got.Parsed)
		assert.Equal(t, 0, got.Skipped)
		assert.Equal(t, 2365, got.Keys)
		assert.Equal(t, c.limit, got.Limit)
		seen := 0
		for _, s := range got.Schemes {
			name := fmt.Sprint(s.Name, " ", s.Slots)
			if want, ok := c.figures[name]; ok {
				figures := []int{s.Denied, s.WrongAllow, s.WrongDeny}
				assert.Equal(t, want, figures[:len(want)], "%v: %s", c.args, name)
				seen++
			}
			switch {
			case s.Name == "log" || s.Name == "strict":
				assert.LessOrEqual(t, s.WorstTrailing, c.limit, "%v: %s", c.args, name)
			case s.Slots <= 2:
				assert.Greater(t, s.WorstTrailing, c.limit, "%v: %s", c.args, name)
			}
		}
		assert.Len(t, got.Schemes, 10)
		assert.Equal(t, len(c.figures), seen)
	}
}

// Goal: the other log is read to the last line. Method: counted without the code under test.
func TestAttackersLog(t *testing.T) {
	log := filepath.Join(dataFolder(t), "logs", "attackers-2015.combined.log.gz")
	got := replayJSON(t, log)
	assert.Equal(t, countLines(t, log), got.Lines)
	assert.Equal(t, got.Lines, got.Parsed)
	assert.Equal(t, 520, got.Keys)
}

// accuracy is the part of the JSON of the laboratory that the tests look at.
type accuracy struct {
	Requests, Over, Denied, Sources int
	SourcesOver                     int `json:"sources_over"`
	Schemes                         []struct {
		Name   string
		Slots  int
		Closed struct {
			Denied        int
			WrongAllow    int `json:"wrong_allow"`
			WrongDeny     int `json:"wrong_deny"`
			WorstTrailing int `json:"worst_trailing"`
		}
		Open *struct {
			WrongAllow        int     `json:"wrong_allow"`
			WrongDeny         int     `json:"wrong_deny"`
			WrongDenyPerOver  float64 `json:"wrong_deny_per_over"`
			WrongAllowPerOver float64 `json:"wrong_allow_per_over"`
		}
	}
}

// Goal: the laboratory gives the figures of the independent reference too, although it takes one
// key after the other through rings and logs of their own. Method: the closed loop on the NASA
// log; in the open loop the log has no error, and a strict ring no wrong allow.
func TestNASAFiguresOfTheLaboratory(t *testing.T) {
	log := filepath.Join(dataFolder(t), "logs", "nasa-19950801.clf.log.gz")
	for _, c := range nasaFigures {
		var got accuracy
		accuracyJSON(t, &got, append(c.args, "-resolution", "1/1,1/2,1/6,1/60", log)...)
		assert.Equal(t, 30969, got.Requests)
		assert.Equal(t, 2365, got.Sources)
		assert.Equal(t, c.figures["log 0"][0], got.Denied)
		assert.Greater(t, got.Over, got.Denied)
		seen := 0
		for _, s := range got.Schemes {
			name := fmt.Sprint(s.Name, " ", s.Slots)
			if want, ok := c.figures[name]; ok {
				figures := []int{s.Closed.Denied, s.Closed.WrongAllow, s.Closed.WrongDeny}
				assert.Equal(t, want, figures[:len(want)], "%v: %s", c.args, name)
				seen++
			}
			switch s.Name {
			case "log":
				assert.Zero(t, s.Open.WrongAllow+s.Open.WrongDeny+s.Closed.WrongAllow+
					s.Closed.WrongDeny)
				assert.LessOrEqual(t, s.Closed.WorstTrailing, c.limit)
			case "strict", "exphist":
				assert.Zero(t, s.Open.WrongAllow, "%v: %s", c.args, name)
				assert.LessOrEqual(t, s.Closed.WorstTrailing, c.limit, "%v: %s", c.args, name)
			case "gcra":
				assert.Nil(t, s.Open)
			default:
				wrong := s.Open.WrongAllow + s.Open.WrongDeny
				if s.Slots <= 7 {
					assert.Positive(t, wrong, "%v: %s", c.args, name)
				}
				shares := s.Open.WrongAllowPerOver + s.Open.WrongDenyPerOver
				assert.InDelta(t, float64(wrong), shares*float64(got.Over), 0.1)
			}
		}
		assert.Equal(t, len(c.figures), seen)
	}
}

// accuracyJSON runs the command in this process and decodes what it writes.
func accuracyJSON(t *testing.T, into *accuracy, args ...string) {
	t.Helper()
	args = append([]string{"accuracy", "-format", "json"}, args...)
	status, stdout, stderr := command("", args...)
	require.Equal(t, 0, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), into))
}
