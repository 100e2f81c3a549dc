package accesslog

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// at returns the tick of an RFC 3339 time.
func at(text string) tallyring.Tick {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return tallyring.Tick(t.UnixNano())
}

// lineCase is one line with the request that is expected of it.
type lineCase struct {
	name string
	line string
	want Record
}

func checkLines(t *testing.T, cases []lineCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p Parser
			got, err := p.Parse(c.line)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

// Goal: a Common or Combined line gives its client, tick, path and agent, whatever stands before
// the client and however odd the request is. Method: made-up lines, each with one peculiarity.
func TestCommonAndCombined(t *testing.T) {
	tick := at("2026-03-04T05:06:07Z")
	const stamp = "[04/Mar/2026:05:06:07 +0000]"
	rec := func(client, path, agent string) Record { return Record{tick, client, path, agent} }
	checkLines(t, []lineCase{
		{"common", `192.0.2.1 - - ` + stamp + ` "GET /a HTTP/1.1" 200 12`,
			rec("192.0.2.1", "/a", "")},
		{"host name", `dial7.example.net - - ` + stamp + ` "GET /a HTTP/1.0" 200 -`,
			rec("dial7.example.net", "/a", "")},
		{"combined", `192.0.2.1 - bob ` + stamp + ` "GET /a?b=c HTTP/2.0" 200 12 "-" "curl/8"`,
			rec("192.0.2.1", "/a", "curl/8")},
		{"IPv6", `2001:db8::7 - - ` + stamp + ` "GET / HTTP/1.1" 200 12 "" ""`,
			rec("2001:db8::7", "/", "")},
		{"empty request", `192.0.2.1 - - ` + stamp + ` "" 400 0 "-" "-"`,
			rec("192.0.2.1", "", "-")},
		{"no request", `192.0.2.1 - - ` + stamp + ` "-" 408 - "-" "-"`,
			rec("192.0.2.1", "-", "-")},
		{"TLS bytes", `192.0.2.1 - - ` + stamp + ` "\x16\x03\x01 \x02" 400 226 "-" "-"`,
			rec("192.0.2.1", `\x16\x03\x01 \x02`, "-")},
		{"no protocol", `192.0.2.1 - - ` + stamp + ` "GET /long" 414 0 "-" "-"`,
			rec("192.0.2.1", "/long", "-")},
		{"escaped quotes",
			`192.0.2.1 - - ` + stamp + ` "GET /\"q\" HTTP/1.1" 200 1 "-" "a \"b\" c"`,
			rec("192.0.2.1", `/\"q\"`, `a \"b\" c`)},
		{"bare quotes", `192.0.2.1 - - ` + stamp + ` "GET /"q" HTTP/1.1" 404 1`,
			rec("192.0.2.1", `/"q"`, "")},
		{"backslash before the quote", `192.0.2.1 - - ` + stamp + ` "GET /a\" 404 1`,
			rec("192.0.2.1", `/a\`, "")},
		{"user of two words", `192.0.2.1 - Ann Lee ` + stamp + ` "GET / HTTP/1.1" 200 1`,
			rec("192.0.2.1", "/", "")},
		{"no user", `192.0.2.1 - ` + stamp + ` "GET / HTTP/1.1" 200 1`, rec("192.0.2.1", "/", "")},
		{"client alone", `192.0.2.1 ` + stamp + ` "GET / HTTP/1.1" 200 1`,
			rec("192.0.2.1", "/", "")},
		{"no status", `192.0.2.1 - - ` + stamp + ` "GET / HTTP/1.1" - - "-" "x"`,
			rec("192.0.2.1", "/", "x")},
		{"no client", `- - - ` + stamp + ` "GET / HTTP/1.1" 200 1`, rec("-", "/", "")},
		{"virtual host", `www.example.org:443 192.0.2.1 - - ` + stamp + ` "GET / HTTP/1.1" 200 1`,
			rec("192.0.2.1", "/", "")},
		{"virtual host and an id", `example.org 192.0.2.1 - id7 - ` + stamp +
			` "GET / HTTP/1.1" 200 1`, rec("192.0.2.1", "/", "")},
		{"forwarded list", `192.0.2.9, 10.0.0.1, 10.0.0.2 - - ` + stamp + ` "GET / HTTP/1.1" 200 1`,
			rec("192.0.2.9", "/", "")},
		{"quoted list before the peer", `"192.0.2.9, 10.0.0.1" 10.0.0.2 - - ` + stamp +
			` "GET / HTTP/1.1" 200 1`, rec("10.0.0.2", "/", "")},
		{"ingress", `192.0.2.1 - [192.0.2.1] - - ` + stamp + ` "HEAD /v HTTP/1.1" 308 0 "-" "c"`,
			rec("192.0.2.1", "/v", "c")},
		{"port", `192.0.2.1:5555 - - ` + stamp + ` "GET / HTTP/1.1" 200 1`,
			rec("192.0.2.1", "/", "")},
		{"syslog", `Mar  4 05:06:08 web1 nginx[7]: 192.0.2.1 - - ` + stamp +
			` "GET / HTTP/1.1" 200 1`, rec("192.0.2.1", "/", "")},
		{"syslog 5424", `<134>1 2026-03-04T05:06:08Z web1 nginx 7 - - 192.0.2.1 - - ` + stamp +
			` "GET / HTTP/1.1" 200 1`, rec("192.0.2.1", "/", "")},
		{"container", `2026-03-04T05:06:08.000000001Z stdout F 192.0.2.1 - - ` + stamp +
			` "GET / HTTP/1.1" 200 1`, rec("192.0.2.1", "/", "")},
		{"byte order mark and CRLF", "\ufeff192.0.2.1 - - " + stamp + " \"GET / HTTP/1.1\" 200 1\r",
			rec("192.0.2.1", "/", "")},
		{"bytes that are no UTF-8", "192.0.2.1 - - " + stamp + " \"GET /\xff HTTP/1.1\" 200 1",
			rec("192.0.2.1", "/\xff", "")},
		{"extra fields",
			`192.0.2.1 - - ` + stamp + ` "GET / HTTP/1.1" 200 1 "-" "x" 7 "r@file" 2ms`,
			rec("192.0.2.1", "/", "x")},
		{"a time in the query", `192.0.2.1 - - ` + stamp +
			` "GET /?[01/Jan/1999:00:00:00 +0000] HTTP/1.1" 200 1`, rec("192.0.2.1", "/", "")},
	})
}

// Goal: times are instants, whatever the zone, and exact. Method: one instant in several zones, an
// hour that a change of clocks repeats, and fractions.
func TestZonesAndFractions(t *testing.T) {
	stamps := map[string]string{
		"04/Mar/2026:10:36:07 +0530":     "2026-03-04T05:06:07Z",
		"04/Mar/2026:01:06:07 -0400":     "2026-03-04T05:06:07Z",
		"25/Oct/2026:02:30:00 +0200":     "2026-10-25T00:30:00Z",
		"25/Oct/2026:02:30:00 +0100":     "2026-10-25T01:30:00Z",
		"04/Mar/2026:05:06:07.123 +0000": "2026-03-04T05:06:07.123Z",
		"04/Mar/2026:05:06:07":           "2026-03-04T05:06:07Z",
		"01/Jan/1970:00:00:00 +0000":     "1970-01-01T00:00:00Z",
	}
	for stamp, want := range stamps {
		var p Parser
		rec, err := p.Parse(`192.0.2.1 - - [` + stamp + `] "GET / HTTP/1.1" 200 1`)
		require.NoError(t, err, stamp)
		assert.Equal(t, at(want), rec.Tick, stamp)
	}
}

// Goal: the JSON logs of each proxy give the same four things. Method: made-up records with the
// members that the proxies write, and some that they write besides.
func TestJSON(t *testing.T) {
	tick := at("2026-03-04T05:06:07.123456789Z")
	rec := Record{tick, "192.0.2.1", "/a", "curl/8"}
	caddy := `{"level":"info","ts":1772600767.123456789,"logger":"http.log.access.log0",` +
		`"msg":"handled request","request":{"remote_ip":"10.0.0.1","client_ip":"192.0.2.1",` +
		`"uri":"/a?b","headers":{"User-Agent":["curl/8"],"X":["{}"]}},"status":200}`
	checkLines(t, []lineCase{
		{"Caddy", caddy, rec},
		{"Caddy behind compose", `web  | ` + caddy, rec},
		{"Caddy 2.0", `{"level":"error","ts":1772600767.123456789,"logger":"http.log.access",` +
			`"request":{"remote_addr":"[2001:db8::1]:99","uri":"/a"}}`,
			Record{tick, "2001:db8::1", "/a", ""}},
		{"Caddy with times as text", `{"level":"info","ts":"2026/03/04 05:06:07.123456789",` +
			`"msg":"handled request","request":{"remote_ip":"192.0.2.1","uri":"/"}}`,
			Record{tick, "192.0.2.1", "/", ""}},
		{"Traefik", `{"ClientAddr":"192.0.2.1:5","ClientHost":"192.0.2.1","RequestPath":"/a?b=1",` +
			`"StartUTC":"2026-03-04T05:06:07.123456789Z","request_User-Agent":"curl/8",` +
			`"time":"2026-03-04T05:06:07Z"}`, rec},
		{"Traefik with a list", `{"ClientHost":"192.0.2.1,10.0.0.7","RequestPath":"/a",` +
			`"StartLocal":"2026-03-04T06:06:07.123456789+01:00","request_User-Agent":"curl/8"}`,
			rec},
		{"Envoy in a container", `2026-03-04T05:06:09.1Z stdout F {"start_time":` +
			`"2026-03-04T05:06:07.123456789Z","downstream_remote_address":"192.0.2.1:40000",` +
			`"x-envoy-origin-path":"/a","user-agent":"curl/8","x-forwarded-for":null}`, rec},
		{"Envoy IPv6", `{"start_time":"2026-03-04T05:06:07.123456789Z","path":"/a",` +
			`"downstream_remote_address":"[2001:db8::1]:4","user_agent":"curl/8"}`,
			Record{tick, "2001:db8::1", "/a", "curl/8"}},
		{"Cloudflare", `{"ClientIP":"192.0.2.1","ClientRequestURI":"/a?x","EdgeStartTimestamp":` +
			`1772600767123456789,"ClientRequestUserAgent":"curl/8"}`, rec},
		{"nginx", `{ "remote_addr": "192.0.2.1", "msec": "1772600767.123456789", ` +
			`"request": "GET /a?b HTTP/1.1", "http_user_agent": "curl/8" }`, rec},
		{"nginx milliseconds", `{"remote_addr":"192.0.2.1","timestamp":1772600767123,` +
			`"request_uri":"/a","http_user_agent":"curl/8"}`,
			Record{at("2026-03-04T05:06:07.123Z"), "192.0.2.1", "/a", "curl/8"}},
		{"nginx with its own escapes", `{"time_iso8601":"2026-03-04T06:06:07+01:00",` +
			`"remote_addr":"192.0.2.1","request":"\x16\x03","http_user_agent":"a \x22b\x22 \\x"}`,
			Record{at("2026-03-04T05:06:07Z"), "192.0.2.1", "\x16\x03", `a "b" \x`}},
		{"nginx local time", `{"time_local":"04/Mar/2026:06:06:07 +0100","remote_addr":"::1",` +
			`"request":"GET /a HTTP/1.1"}`, Record{at("2026-03-04T05:06:07Z"), "::1", "/a", ""}},
		{"docker", `{"log":"192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] \"GET /a HTTP/1.1\" 200 ` +
			`1 \"-\" \"curl/8\"\n","stream":"stdout","time":"2026-03-04T05:06:09Z"}`,
			Record{at("2026-03-04T05:06:07Z"), "192.0.2.1", "/a", "curl/8"}},
		{"JSON in an envelope", `{"message":"{\"remote_addr\":\"192.0.2.1\",\"time\":` +
			`\"2026-03-04T05:06:07Z\",\"uri\":\"/a\"}"}`,
			Record{at("2026-03-04T05:06:07Z"), "192.0.2.1", "/a", ""}},
	})
}

// Goal: the other formats. Method: one made-up line for each shape that the reader knows.
func TestOtherFormats(t *testing.T) {
	tick := at("2026-03-04T05:06:07Z")
	milli := at("2026-03-04T05:06:07.250Z")
	checkLines(t, []lineCase{
		{"HAProxy", `192.0.2.1:5555 [04/Mar/2026:05:06:07.250] fe~ be/s1 0/0/1/2/3 200 7 - - ` +
			`---- 1/1/0/0/0 0/0 {host|} "GET /a?b HTTP/1.1"`, Record{milli, "192.0.2.1", "/a", ""}},
		{"HAProxy IPv6 behind syslog", `Mar  4 05:06:07 lb haproxy[9]: 2001:db8::1:5555 ` +
			`[04/Mar/2026:05:06:07.250] fe be/<NOSRV> 0/-1/-1/-1/0 400 7 - - PR-- 1/1/0/0/0 0/0 ` +
			`"<BADREQ>"`, Record{milli, "2001:db8::1", "<BADREQ>", ""}},
		{"HAProxy without a client", `-:5555 [04/Mar/2026:05:06:07.250] fe be/s1 0/0/0/0/0 200 7 ` +
			`"GET / HTTP/1.1"`, Record{milli, NoClient, "/", ""}},
		{"Nginx Proxy Manager", `[04/Mar/2026:05:06:07 +0000] - 404 404 - GET https 10.0.0.1 ` +
			`"/a" [Client 192.0.2.1] [Length 1] [Gzip -] [Sent-to s] "curl/8" "-"`,
			Record{tick, "192.0.2.1", "/a", "curl/8"}},
		{"NPMplus", `[04/Mar/2026:06:06:07 +0100] 10.0.0.1 192.0.2.1 0.227 "REPORT /a HTTP/2.0" ` +
			`207 1 2 - curl/8`, Record{tick, "192.0.2.1", "/a", ""}},
		{"Common with an ISO time",
			`192.0.2.1 - - [2026-03-04T06:06:07+01:00] "GET /a HTTP/1.1" 200 10`,
			Record{at("2026-03-04T05:06:07Z"), "192.0.2.1", "/a", ""}},
		{"Envoy text", `[2026-03-04T05:06:07.250Z] "POST /a HTTP/2" 204 - 1 0 2 1 "192.0.2.1, ` +
			`10.0.0.1" "curl/8" "id" "host" "tcp://10.0.0.2:80"`,
			Record{milli, "192.0.2.1", "/a", "curl/8"}},
		{"ALB", `https 2026-03-04T05:06:07.250000Z app/lb/1 192.0.2.1:5555 - -1 -1 -1 404 - 2 1 ` +
			`"GET https://www.example.org:443/a?b HTTP/1.1" "curl/8" - -`,
			Record{milli, "192.0.2.1", "https://www.example.org:443/a", "curl/8"}},
		{"CloudFront without a header", "2026-03-04\t05:06:07\tCDG50\t7\t192.0.2.1\tGET\t" +
			"d.example\t/a\t200\t-\tcurl/8\t-\t-\tHit", Record{tick, "192.0.2.1", "/a", "curl/8"}},
		{"uWSGI", `[pid: 7|app: 0|req: 1/1] 192.0.2.1 (bob) {38 vars in 696 bytes} ` +
			`[Wed Mar  4 05:06:07 2026] POST /a?b => generated 47 bytes in 1 msecs (HTTP/1.1 200)`,
			Record{tick, "192.0.2.1", "/a", ""}},
		{"Zoraxy", `2026/03/04 05:06:07 [2026-03-04 05:06:07.250000] [router:host-http] ` +
			`[origin:example.org] [client: 192.0.2.1] [useragent: Mozilla [en] x] GET /a?b 404`,
			Record{milli, "192.0.2.1", "/a", "Mozilla [en] x"}},
		{"custom, all quoted", `"%" "192.0.2.1" "10.0.0.1" "GET /a?b HTTP/1.1" ` +
			`"[04/Mar/2026:05:06:07 +0000]" "200"`, Record{tick, "192.0.2.1", "/a", ""}},
		{"custom, time first", `[04/Mar/2026:05:06:07 +0000] - [7 192.0.2.1 id GET /a?b ` +
			`HTTP/1.1] 200`, Record{tick, "192.0.2.1", "/a", ""}},
	})
}

// Goal: a W3C log is read by its own header, which may change in the file, and its directives are
// not requests. Method: one made-up log with two headers, tabs, quotes and an offset.
func TestW3C(t *testing.T) {
	var p Parser
	for _, step := range []struct {
		line string
		want Record
		err  error
	}{
		{"#Software: made up", Record{}, ErrDirective},
		{"#Date: 2026-03-04 00:00:00", Record{}, ErrDirective},
		{"#Fields: time c-ip cs-method cs-uri-stem", Record{}, ErrDirective},
		{"05:06:07 192.0.2.1 GET /a",
			Record{at("2026-03-04T05:06:07Z"), "192.0.2.1", "/a", ""}, nil},
		{"05:06:07 192.0.2.1", Record{}, ErrCut},
		{"half past five 192.0.2.1 GET /a", Record{}, ErrUnknown},
		{"#Date: 2026-03-05 00:00:00", Record{}, ErrDirective},
		{"05:06:07.250 192.0.2.1 GET /a", Record{at("2026-03-05T05:06:07.25Z"), "192.0.2.1", "/a",
			""}, nil},
		{"#GMT-Offset: -0800", Record{}, ErrDirective},
		{"#Fields: c-ip\tdate\ttime\tcs-uri\tcs(User-Agent)", Record{}, ErrDirective},
		{"\"192.0.2.2\"\t2026-03-04\t05:06:07\t\"/a\"\"b?c\"\t\"curl 8\"",
			Record{at("2026-03-04T13:06:07Z"), "192.0.2.2", `/a"b`, "curl 8"}, nil},
		{"#Fields: date time s-ip cs-method cs-uri-stem", Record{}, ErrDirective},
		{"2026-03-04 05:06:07 10.0.0.1 GET /a",
			Record{at("2026-03-04T13:06:07Z"), NoClient, "/a", ""}, nil},
		{"#Fields: date time s-ip sc-status", Record{}, ErrDirective},
		{"2026-03-04 05:06:07 10.0.0.1 200", Record{}, ErrNoRequest},
	} {
		got, err := p.Parse(step.line)
		assert.Equal(t, step.err, err, step.line)
		assert.Equal(t, step.want, got, step.line)
	}
}

// Goal: a syslog time without a year falls into the year of the line before. Method: the same line
// first in a file, and after a dated one.
func TestSyslogWithoutYear(t *testing.T) {
	const line = `Feb 29 05:06:07 web1 app.log: 192.0.2.1 - - "GET /a HTTP/1.1" 200 1 4.3`
	var p Parser
	rec, err := p.Parse(line)
	require.NoError(t, err)
	assert.Equal(t, Record{at("2000-02-29T05:06:07Z"), "192.0.2.1", "/a", ""}, rec)
	_, err = p.Parse(`192.0.2.1 - - [04/Mar/2024:05:06:07 +0000] "GET / HTTP/1.1" 200 1`)
	require.NoError(t, err)
	rec, err = p.Parse(line)
	require.NoError(t, err)
	assert.Equal(t, at("2024-02-29T05:06:07Z"), rec.Tick)
}

// Goal: what is no request is refused for the right reason, and leaves nothing behind. Method:
// lines of error logs, cut lines and impossible times.
func TestRefused(t *testing.T) {
	const head = `192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] `
	for line, want := range map[string]error{
		"xxxxxxxx": ErrUnknown,
		"":         ErrUnknown,
		`2026/03/04 05:06:07 [error] 3#3: *4 open() failed, client: 192.0.2.1`:      ErrUnknown,
		`[Wed Mar 04 05:06:07.1 2026] [core:error] [pid 1] [client 192.0.2.1:5] no`: ErrUnknown,
		`{"remote_addr":"192.0.2.1","time":"2026-03-04T05:0`:                        ErrUnknown,
		`{"level":"info","ts":1772600767.1,"msg":"serving"}`:                        ErrNoRequest,
		`{"a":1}`:                              ErrNoRequest,
		`{"log":"listening on :80\n"}`:         ErrNoRequest,
		`{"log":"{\"log\":\"` + head + `\"}"}`: ErrNoRequest,
		`192.0.2.1:5 [04/Mar/2026:05:06:07.1] fe/be: SSL handshake failure`: ErrNoRequest,
		`192.0.2.1:5 [04/Mar/2026:05:06:07.1] fe be/s 0/0 200 "GET / HT`:    ErrCut,
		head + `"GET /a`:             ErrCut,
		head + `"GET /a HTTP/1.1"`:   ErrCut,
		head + `"GET /a HTTP/1.1" 2`: ErrCut,
		`192.0.2.1 - - [31/Feb/2026:05:06:07 +0000] "GET / HTTP/1.1" 200 1`:            ErrTime,
		`192.0.2.1 - - [04/Mar/1969:05:06:07 +0000] "GET / HTTP/1.1" 200 1`:            ErrTime,
		`192.0.2.1 - - [04/Mar/2262:05:06:07 +0000] "GET / HTTP/1.1" 200 1`:            ErrTime,
		`{"ClientIP":"192.0.2.1","EdgeStartTimestamp":"soon"}`:                         ErrTime,
		`[pid: 7|app: 0|req: 1/1] 192.0.2.1 () {38 vars in 696 bytes} [Wed Mar  4 05:`: ErrCut,
	} {
		var p Parser
		rec, err := p.Parse(line)
		assert.Equal(t, want, err, line)
		assert.Equal(t, Record{}, rec, line)
	}
}

// Goal: numbers since 1970 are exact to the nanosecond in every unit and form. Method: values that
// a float64 cannot hold, and malformed ones.
func TestEpoch(t *testing.T) {
	for text, want := range map[string]tallyring.Tick{
		"0":                      0,
		"1772600767":             1772600767000000000,
		"1772600767.1":           1772600767100000000,
		"1772600767.123456789":   1772600767123456789,
		"1772600767.1234567899":  1772600767123456789,
		"1.772600767123456789e9": 1772600767123456789,
		"17726007671234567e-7":   1772600767123456700,
		"1772600767123":          1772600767123000000,
		"1772600767123.5":        1772600767123500000,
		"1772600767123456":       1772600767123456000,
		"1772600767123456789":    1772600767123456789,
		"1772600767123456789.9":  1772600767123456789,
		"00000000000000000001":   1000000000,
	} {
		got, err := parseEpoch(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", ".", ".5", "-1", "+1", "1e", "1e99", "1e999999999", "0x1",
		"99999999999999999999", "1 2", "1.2.3", "9223372037", strings.Repeat("1", 70)} {
		_, err := parseEpoch(text)
		assert.ErrorIs(t, err, ErrTime, text)
	}
}

// Goal: a very long line is read like any other. Method: a path of 1.1 MB.
func TestLongLine(t *testing.T) {
	path := "/" + strings.Repeat("a", 1_100_000)
	var p Parser
	rec, err := p.Parse(`192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] "GET ` + path +
		` HTTP/1.1" 414 0 "-" "-"`)
	require.NoError(t, err)
	assert.Equal(t, path, rec.Path)
}

// Goal: no line makes the parser panic, and a line is a whole request or none. Method: fuzzing,
// with a line of each format to start from, through one parser that has seen a W3C header and one
// that has not.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`192.0.2.1 - - [04/Mar/2026:05:06:07 +0000] "GET / HTTP/1.1" 200 1 "-" "x"`,
		`192.0.2.1:5 [04/Mar/2026:05:06:07.1] fe be/s 0/0 200 "GET / HTTP/1.1"`,
		`[04/Mar/2026:05:06:07 +0000] 404 - GET https h "/a" [Client 192.0.2.1] "x" "-"`,
		`[2026-03-04T05:06:07Z] "GET / HTTP/2" 204 - 1 0 2 1 "192.0.2.1" "x"`,
		`h2 2026-03-04T05:06:07Z app/lb/1 192.0.2.1:5 - -1 "GET / HTTP/2" "x"`,
		`[pid: 7] 192.0.2.1 () {1 vars} [Wed Mar  4 05:06:07 2026] GET / => generated`,
		`a [2026-03-04 05:06:07] [router:x] [client: 192.0.2.1] [useragent: x] GET / 200`,
		`Feb 29 05:06:07 web1 app.log: 192.0.2.1 - - "GET /a HTTP/1.1" 200`,
		`{"remote_addr":"192.0.2.1","msec":1.5e9,"request":"\x16"}`,
		`{"level":"info","ts":1,"msg":"handled request","request":{"uri":7}}`,
		`{"ClientHost":"a,b","StartUTC":"2026-03-04T05:06:07Z"}`,
		`{"log":"x \"GET / HTTP/1.1\" [04/Mar/2026:05:06:07 +0000]"}`,
		"2026-03-04\t05:06:07\ta\tb\t192.0.2.1\tGET\th\t/\t200\t-\tx\t-",
		"2026-03-04 05:06:07 192.0.2.1 \"/\"\"\"",
		"#GMT-Offset: -0800", "\ufeff", "[[[[", `""""`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var plain, w3c Parser
		_, err := w3c.Parse("#Fields: date time c-ip cs-uri")
		require.Equal(t, ErrDirective, err)
		for _, p := range []*Parser{&plain, &w3c} {
			for range 2 { // the second time with what the first has left behind
				rec, err := p.Parse(line)
				if err != nil {
					require.Equal(t, Record{}, rec)
					require.Contains(t, []error{ErrUnknown, ErrDirective, ErrNoRequest, ErrCut,
						ErrTime}, err)
					continue
				}
				require.NotEmpty(t, rec.Client)
				require.GreaterOrEqual(t, rec.Tick, tallyring.Tick(0))
			}
		}
	})
}
