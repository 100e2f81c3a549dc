package limiter_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// A server asks once per request, with the client as the key.
func Example() {
	l, err := limiter.New(3, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	handle := func(client string) string {
		if !l.Allow(client) {
			return "429 Too Many Requests"
		}
		return "200 OK"
	}
	for range 4 {
		fmt.Println("alice:", handle("alice"))
	}
	fmt.Println("bob:", handle("bob"))
	// Output:
	// alice: 200 OK
	// alice: 200 OK
	// alice: 200 OK
	// alice: 429 Too Many Requests
	// bob: 200 OK
}

// Options choose the window, the memory and the clock. A wrong one is an error that says what is
// right.
func ExampleNew() {
	l, err := limiter.New(100, time.Minute,
		limiter.WithResolution(time.Second),      // 61 buckets
		limiter.WithStrictWindow(),               // never above 100 in any trailing minute
		limiter.WithKeys(10_000),                 // that many clients at one time always fit
		limiter.WithFullPolicy(limiter.Overflow), // more than that share one budget
	)
	fmt.Println(l.Limit(), err)

	_, err = limiter.New(100, time.Minute, limiter.WithResolution(7*time.Second))
	fmt.Println(err)
	// Output:
	// 100 <nil>
	// limiter: window 1m0s is no multiple of resolution 7s, want a resolution such as 6s
}

// Take tells what a client may do next. Retry-After is in whole seconds, rounded up and at least
// 1, so that a client who waits that long passes.
func ExampleLimiter_Take() {
	clock := &tallyring.ManualClock{}
	l, _ := limiter.New(2, 10*time.Second, limiter.WithClock(clock), limiter.WithLog())

	headers := func(d tallyring.Decision) string {
		text := fmt.Sprintf("Limit: %d, Remaining: %d", d.Limit, d.Remaining)
		switch {
		case d.Allowed:
			return text
		case d.RetryAfter == tallyring.Never:
			return text + ", never"
		}
		seconds := max(1, (d.RetryAfter-1)/time.Second+1)
		return fmt.Sprintf("%s, Retry-After: %d", text, seconds)
	}
	fmt.Println(headers(l.Take("alice", 1)))
	clock.Advance(2600 * time.Millisecond)
	fmt.Println(headers(l.Take("alice", 1)))
	fmt.Println(headers(l.Take("alice", 1))) // 7.4 s to go
	clock.Advance(8 * time.Second)
	fmt.Println(headers(l.Take("alice", 1)))
	fmt.Println(headers(l.Take("alice", 3)))
	// Output:
	// Limit: 2, Remaining: 1
	// Limit: 2, Remaining: 0
	// Limit: 2, Remaining: 0, Retry-After: 8
	// Limit: 2, Remaining: 0
	// Limit: 2, Remaining: 0, never
}

// An IPv6 customer has a whole network, so a /64 is one key. A mapped IPv4 address is that address.
func ExampleLimiter_KeyAddr() {
	l, _ := limiter.New(100, time.Minute)
	key := func(text string) limiter.Key { return l.KeyAddr(netip.MustParseAddr(text)) }

	fmt.Println(key("2001:db8::1") == key("2001:db8::ffff:2"))
	fmt.Println(key("2001:db8::1") == key("2001:db8:0:1::1"))
	fmt.Println(key("192.0.2.1") == key("::ffff:192.0.2.1"))
	fmt.Println(l.AllowKey(key("192.0.2.1"), tallyring.Monotonic().Now(), 1))
	// Output:
	// true
	// false
	// true
	// true
}

// A key of several parts is not their concatenation.
func ExampleLimiter_KeyParts() {
	l, _ := limiter.New(100, time.Minute)
	fmt.Println(l.KeyParts("a", "bc") == l.KeyParts("ab", "c"))
	// Output: false
}

// A request that was counted and then came to nothing is given back, at the tick that its decision
// names.
func ExampleLimiter_RefundAt() {
	l, _ := limiter.New(10, time.Minute)
	d := l.Take("alice", 8)
	fmt.Println(d.Allowed, d.Remaining)
	fmt.Println(l.Take("alice", 5).Allowed)
	l.RefundAt("alice", d.At, 8)
	fmt.Println(l.Take("alice", 5).Allowed)
	// Output:
	// true 2
	// false
	// true
}

// A limit can change while requests are counted. What was counted stays counted.
func ExampleLimiter_SetLimit() {
	clock := &tallyring.ManualClock{}
	l, _ := limiter.New(2, time.Minute, limiter.WithClock(clock))
	fmt.Println(l.Allow("alice"), l.Allow("alice"), l.Allow("alice"))
	fmt.Println(l.SetLimit(3))
	fmt.Println(l.Allow("alice"), l.Allow("alice"))
	fmt.Println(l.SetLimit(3), l.Allow("alice"))
	// Output:
	// true true false
	// <nil>
	// true false
	// <nil> false
}

// One key may have a limit of its own.
func ExampleLimiter_SetKeyLimit() {
	l, _ := limiter.New(1, time.Minute)
	partner := l.Key("partner")
	if err := l.SetKeyLimit(partner, tallyring.Unlimited); err != nil {
		fmt.Println(err)
	}
	fmt.Println(l.Allow("partner"), l.Allow("partner"), l.Allow("partner"))
	fmt.Println(l.Allow("alice"), l.Allow("alice"))
	l.ClearKeyLimit(partner)
	fmt.Println(l.Allow("partner"))
	// Output:
	// true true true
	// true false
	// false
}

// A batch of decisions takes one call.
func ExampleLimiter_AllowMany() {
	l, _ := limiter.New(2, time.Minute)
	keys := []limiter.Key{l.Key("a"), l.Key("b"), l.Key("a"), l.Key("a")}
	allowed := make([]bool, len(keys))
	l.AllowMany(keys, tallyring.Monotonic().Now(), 1, allowed)
	fmt.Println(allowed)
	// Output: [true true true false]
}

// When every cell counts something, events of new keys follow a policy. Keys that have a cell keep
// it.
func ExampleWithFullPolicy() {
	l, _ := limiter.New(1, time.Minute,
		limiter.WithKeys(100), limiter.WithFullPolicy(limiter.Deny))
	first := l.Allow("alice")
	for i := range 10_000 {
		l.Allow(fmt.Sprint("flood-", i))
	}
	s := l.Stats()
	fmt.Println(first, l.Allow("alice"), l.Allow("another"))
	fmt.Println(s.Live+s.Refused, s.Live >= 100, s.TakenOver)
	// Output:
	// true false false
	// 10001 true 0
}

// A client may send 2 events per second and 3 per minute. An event that one of them denies is not
// counted by the other.
func ExampleSeveral() {
	s, _ := limiter.NewSeveral([]limiter.Rate{{2, time.Second}, {3, time.Minute}})
	second := tallyring.Tick(time.Second)
	for _, now := range []tallyring.Tick{0, 0, 0, 2 * second, 2 * second} {
		j := s.TakeAt("192.0.2.1", now, 1)
		fmt.Println(j.Allowed, j.DeniedBy, j.RetryAfter)
	}
	// Output:
	// true -1 0s
	// true -1 0s
	// false 0 1.5s
	// true -1 0s
	// false 1 1m18s
}

// One event counts on its client and on the site, or on neither.
func ExampleTakeAll() {
	site, _ := limiter.New(1000, time.Minute)
	user, _ := limiter.New(5, time.Minute)
	demands := []limiter.Demand{{site, site.Key("site")}, {user, user.Key("192.0.2.1")}}
	passed := 0
	for range 1000 {
		if limiter.AllowAll(demands, 0, 1) {
			passed++
		}
	}
	fmt.Println(passed, site.PeekAt("site", 0).High)
	// Output: 5 5
}
