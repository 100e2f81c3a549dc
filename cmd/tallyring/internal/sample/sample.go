// Package sample makes an access log out of nothing, so that the command has something to replay
// on a machine that has no log. No line of it ever happened: all addresses are from the ranges kept
// for documentation.
//
// The log is one day of a small site in the Combined format, always the same to the last byte. Its
// traffic is what a rate limit meets: clients by Zipf's law (the k-th busiest sends 1/k of what the
// busiest does), a day curve by the hour, visitors whose page loads come in clusters, bursts of
// impatient clients, a crawler at a steady pace, and one client that knows about fixed windows and
// sends everything around the turn of the minute. Only integers are used, because floats may round
// differently from one machine to the next.
package sample

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// Name says what the log is, where a file would have a name.
const Name = "the built-in sample (made by this command, not a real log)"

const (
	seed        = 20260115
	clients     = 600
	visits      = 5200 // page loads by ordinary clients
	bursts      = 24
	secondsADay = 24 * 60 * 60
)

// day is when the log happens.
var day = time.Date(2026, time.January, 15, 0, 0, 0, 0, time.UTC)

// hourWeights is the day curve: how busy each hour is beside the others.
var hourWeights = [24]int{
	14, 9, 6, 5, 5, 8, 16, 30, 46, 58, 63, 66, 60, 62, 66, 64, 60, 58, 62, 70, 74, 62, 42, 24,
}

var (
	pages  = []string{"/", "/news", "/shop", "/shop/item?id=17", "/about", "/search?q=ring"}
	parts  = []string{"/css/site.css", "/js/site.js", "/img/logo.svg", "/img/hero.avif"}
	agents = []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1",
	}
)

// request is a line to be.
type request struct {
	second int // of the day
	client string
	line   string // method, path and protocol
	status int
	agent  string
}

// maker holds what making the log needs.
type maker struct {
	random   *rand.Rand
	requests []request
	zipf     []int // zipf[k] is the sum of the weights of clients 0 to k
	hours    []int // the same of the hours
}

// Open returns the log.
func Open() io.Reader {
	m := &maker{random: rand.New(rand.NewPCG(seed, seed))}
	for k := range clients {
		m.zipf = append(m.zipf, 1_000_000/(k+1)+last(m.zipf))
	}
	for _, weight := range hourWeights {
		m.hours = append(m.hours, weight+last(m.hours))
	}
	m.visitors()
	m.impatient()
	m.crawler()
	m.edgeRunner()
	slices.SortStableFunc(m.requests, func(a, b request) int {
		return cmp.Compare(a.second, b.second)
	})
	var log bytes.Buffer
	for _, r := range m.requests {
		at := day.Add(time.Duration(r.second) * time.Second)
		stamp := at.Format("02/Jan/2006:15:04:05 -0700")
		fmt.Fprintf(&log, "%s - - [%s] %q %d %d \"-\" %q\n",
			r.client, stamp, r.line, r.status, m.random.IntN(20000), r.agent)
	}
	return &log
}

// visitors load a page, its parts within three seconds, and go on reading.
func (m *maker) visitors() {
	for range visits {
		client := m.pick(m.zipf)
		start := m.pick(m.hours)*3600 + m.random.IntN(3600)
		agent := agents[client%len(agents)]
		m.get(start, address(client), pages[m.random.IntN(len(pages))], agent)
		for _, part := range parts[:m.random.IntN(len(parts)+1)] {
			m.get(start+m.random.IntN(3), address(client), part, agent)
		}
	}
}

// impatient clients send 20 to 80 requests at 2 to 6 a second.
func (m *maker) impatient() {
	for range bursts {
		client := m.random.IntN(clients)
		start := m.pick(m.hours)*3600 + m.random.IntN(3600)
		rate := 2 + m.random.IntN(5)
		for i := range 20 + m.random.IntN(61) {
			m.get(start+i/rate, address(client), "/api/cart", agents[client%len(agents)])
		}
	}
}

// crawler fetches a page every 7 seconds through the small hours.
func (m *maker) crawler() {
	for second := 3600; second < 5*3600; second += 7 {
		path := fmt.Sprintf("/shop/item?id=%d", second/7)
		m.get(second, "2001:db8:c4a1::1", path, "ringbot/1.0 (+https://ringbot.example)")
	}
}

// edgeRunner tries passwords in the last second of a minute and the first of the next.
func (m *maker) edgeRunner() {
	for minute := 13*60 + 1; minute < 13*60+31; minute += 2 {
		for i := range 20 {
			m.requests = append(m.requests, request{
				second: minute*60 - 1 + i/10,
				client: "203.0.113.66",
				line:   "POST /login HTTP/1.1",
				status: 401,
				agent:  "python-requests/2.32",
			})
		}
	}
}

func (m *maker) get(second int, client, path, agent string) {
	m.requests = append(m.requests, request{
		second: min(second, secondsADay-1),
		client: client,
		line:   "GET " + path + " HTTP/1.1",
		status: 200,
		agent:  agent,
	})
}

// pick returns an index with the probability of its weight in the sums.
func (m *maker) pick(sums []int) int {
	at := m.random.IntN(last(sums))
	i, _ := slices.BinarySearch(sums, at+1)
	return i
}

func last(sums []int) int {
	if len(sums) == 0 {
		return 0
	}
	return sums[len(sums)-1]
}

// address returns the address of a client; every third has an IPv6 address.
func address(client int) string {
	switch client % 3 {
	case 0:
		return fmt.Sprintf("198.51.100.%d", 1+client/3)
	case 1:
		return fmt.Sprintf("192.0.2.%d", 1+client/3)
	}
	return fmt.Sprintf("2001:db8:%x::%x", 1+client/3, client)
}
