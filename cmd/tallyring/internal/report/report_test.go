package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// Goal: nothing that a stranger writes reaches the terminal but as characters to read, and no more
// than there is room for. Method: control characters, terminal sequences, marks of direction,
// broken UTF-8, and every width.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"192.0.2.1":             "192.0.2.1",
		"\x1b[2Jx":              `\x1b[2Jx`,
		"a\tb\nc\x7f\x00":       `a\x09b\x0ac\x7f\x00`,
		"\u009b31m":             `\u009b31m`,
		"abc\u202edef":          `abc\u202edef`,
		"\xff\xfe":              `\xff\xfe`,
		"naïve 例":               "naïve 例",
		"\U000e0001":            `\U000e0001`,
		"\ufffd":                "\ufffd",
		strings.Repeat("a", 20): strings.Repeat("a", 20),
	} {
		assert.Equal(t, want, Escape(text, 20))
		for width := range 25 {
			got := Escape(text, width)
			require.LessOrEqual(t, utf8.RuneCountInString(got), width, text)
			if width >= utf8.RuneCountInString(want) {
				require.Equal(t, want, got)
			} else if width > 0 {
				require.True(t, strings.HasSuffix(got, "…"), "%q at %d", got, width)
			}
		}
	}
}

func sampleReport() *Report {
	return &Report{
		Source: "a.log\x1b[31m", Key: "client", Lines: 1_234_570, Parsed: 1_234_567, Skipped: 3,
		Keys:  1,
		First: time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600)),
		Last:  time.Date(2026, 3, 5, 5, 6, 7, 250, time.UTC),
		Plan:  replay.Plan{Limit: 18446744073709551615, Window: time.Hour},
		Result: replay.Result{
			Outcomes: []replay.Outcome{
				{Scheme: replay.Scheme{Name: "log"}, Denied: 7, WorstTrailing: 3},
				{Scheme: replay.Scheme{Name: "sliding", Resolution: 65534}, Denied: 1_000_000,
					WrongAllow: 1_000_000, WrongDeny: 1_000_000, WorstTrailing: 1_000_000},
			},
			Keys: []replay.KeyOutcome{
				{Key: "-", Requests: 2}, {Key: strings.Repeat("\x1b", 99), Requests: 1_234_565},
			},
		},
	}
}

// Goal: the object has the promised names, in JSON that any reader takes. Method: decoded again,
// with a key that is no UTF-8.
func TestJSONNames(t *testing.T) {
	r := sampleReport()
	r.Result.Keys[0].Key = "\xff\x1b"
	var b bytes.Buffer
	require.NoError(t, r.JSON(&b))
	var got map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	assert.Equal(t, 1, strings.Count(b.String(), "\n"))
	assert.True(t, strings.HasPrefix(b.String(), `{"lines":1234570,"parsed":1234567,"skipped":3,`+
		`"keys":1,"limit":18446744073709551615,"window":"1h0m0s","schemes":[{"name":"log",`+
		`"slots":0,"denied":7,"wrong_allow":0,"wrong_deny":0,"worst_trailing":3},`), b.String())
	assert.Equal(t, "2026-03-04T04:06:07Z", got["first"])
	assert.Len(t, got["hardest"], 2)
}

// Goal: the table stays within 80 columns and sends nothing but text, whatever the numbers and the
// names. Method: a report of extremes.
func TestTableWidth(t *testing.T) {
	r := sampleReport()
	for _, key := range []string{"client", "client+agent"} {
		for _, denied := range []int{0, 1, 1_000_000} {
			r.Key, r.Result.KeysDenied = key, denied
			var b bytes.Buffer
			require.NoError(t, r.Table(&b))
			for _, line := range strings.Split(b.String(), "\n") {
				require.LessOrEqual(t, utf8.RuneCountInString(line), columns, line)
				require.NotContains(t, line, "\x1b")
			}
		}
	}
}

// Goal: numbers and durations read well. Method: the edges of each form.
func TestForms(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567",
	} {
		assert.Equal(t, want, count64(n))
	}
	for d, want := range map[time.Duration]string{
		time.Minute: "1m", time.Hour: "1h", 90 * time.Second: "1m30s", 3661 * time.Second: "1h1m1s",
		10 * time.Second: "10s", 600 * time.Second: "10m", 36000 * time.Second: "10h", 0: "0s",
		3601 * time.Second: "1h0m1s", time.Millisecond: "1ms",
	} {
		assert.Equal(t, want, short(d))
	}
	assert.Equal(t, "10s", bucketWidth(6, time.Minute))
	assert.Equal(t, "~1.667s", bucketWidth(6, 10*time.Second))
	assert.Equal(t, "~142ns", bucketWidth(7, time.Microsecond))
	assert.Equal(t, "1 client", plural(1, "client"))
	assert.Equal(t, "1,000 clients", plural(1000, "client"))
}

// Goal: shares read well, from nothing to many times the whole, and none of them rounds to 0 that
// is not. Method: the edges of each form.
func TestShares(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0", 1: "100%", 145.09: "14,509%", 0.999: "99.9%", 0.0999: "9.99%", 0.00999: "0.999%",
		0.00003: "0.0030%", 0.00000123: "0.0001%", 0.0000001: "1.0e-05%",
	} {
		assert.Equal(t, want, percent(share))
	}
	assert.Equal(t, "-", part(0, 0))
	assert.Equal(t, "0", part(0, 7))
	assert.Equal(t, "50.0%", part(1, 2))
	assert.Equal(t, "22.6", bytesText(22.57))
	assert.Equal(t, "2,184", bytesText(2184))
	six, err := figure(1.0 / 3).MarshalJSON()
	assert.NoError(t, err)
	assert.Equal(t, "0.333333", string(six))
}

// Goal: a label and its text stay within the table, and no word is lost. Method: words of all
// lengths.
func TestWrapAs(t *testing.T) {
	words := strings.Repeat("a bb ccc dddd eeeee ", 20)
	var b strings.Builder
	wrapAs(&b, "     run      ", words)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	assert.Greater(t, len(lines), 3)
	for n, line := range lines {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), columns)
		if n > 0 {
			assert.Equal(t, 14, len(line)-len(strings.TrimLeft(line, " ")))
		}
	}
	assert.Equal(t, strings.Fields("run "+words), strings.Fields(b.String()))
}
