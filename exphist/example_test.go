package exphist_test

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/exphist"
)

// A hundred thousand events an hour, to within a hundredth. The log would keep 16 bytes for each.
func ExampleHistogram() {
	h, err := exphist.New(time.Hour, 0.01, 1_000_000)
	if err != nil {
		panic(err)
	}
	const interval = tallyring.Tick(time.Hour) / 100_000
	now := tallyring.Tick(0)
	for range 250_000 {
		now += interval
		h.Add(now, 1)
	}
	r := h.Read(now)
	fmt.Println(r.Low, r.Estimate, r.High)
	fmt.Println(h.Bytes(), "bytes")
	fmt.Println(h.Estimate(now + tallyring.Tick(time.Hour)))
	// Output:
	// 99473 99984.5 100496
	// 4224 bytes
	// 0
}

// A limit of 1000 bytes per second. The 600 of the first write were counted at one tick, so they
// leave at one tick.
func ExampleHistogram_Take() {
	h, err := exphist.New(time.Second, 0.1, 1000)
	if err != nil {
		panic(err)
	}
	start := tallyring.Tick(time.Hour)
	millisecond := tallyring.Tick(time.Millisecond)
	fmt.Println(h.Allow(start, 600, 1000))
	fmt.Println(h.Allow(start+100*millisecond, 300, 1000))
	now := start + 200*millisecond
	d := h.Take(now, 200, 1000)
	fmt.Println(d.Allowed, d.Remaining, d.RetryAfter, d.ResetAfter)
	fmt.Println(h.Allow(now+tallyring.Tick(d.RetryAfter), 200, 1000))
	// Output:
	// true
	// true
	// false 100 800ms 900ms
	// true
}

// How many of the last 1000 requests failed, whenever they were: what a circuit breaker asks.
func ExampleEvents() {
	failures, err := exphist.NewEvents(1000, 0.1, 1000)
	if err != nil {
		panic(err)
	}
	for request := range 5000 {
		if request >= 4000 && request%5 == 0 {
			failures.Add(1)
		} else {
			failures.Add(0)
		}
	}
	r := failures.Read()
	fmt.Printf("between %d and %d of the last %d failed\n", r.Low, r.High, failures.Events())
	failures.Skip(1000)
	fmt.Println(failures.Estimate())
	// Output:
	// between 169 and 200 of the last 1000 failed
	// 0
}

// At most 10 of any 100 requests in a row are let through to a debug log.
func ExampleEvents_Allow() {
	sampled, err := exphist.NewEvents(100, 0.01, 10)
	if err != nil {
		panic(err)
	}
	logged := 0
	for range 1000 {
		if sampled.Allow(1, 10) {
			logged++
		}
	}
	fmt.Println(logged, "of 1000")
	// Output:
	// 100 of 1000
}

// By the high reading no trailing second holds more than the limit. By the estimate more is
// admitted, at times too much, within a bound that eps sets.
func ExampleWithEstimate() {
	high, err := exphist.New(time.Second, 0.1, 1000)
	if err != nil {
		panic(err)
	}
	estimate, err := exphist.New(time.Second, 0.1, 1000, exphist.WithEstimate())
	if err != nil {
		panic(err)
	}
	byHigh, byEstimate := 0, 0
	for event := range 20_000 {
		now := tallyring.Tick(event) * tallyring.Tick(time.Second) / 2000
		if high.Allow(now, 1, 1000) {
			byHigh++
		}
		if estimate.Allow(now, 1, 1000) {
			byEstimate++
		}
	}
	fmt.Println("of 10000 that the exact log admits:", byHigh, "and", byEstimate)
	// Output:
	// of 10000 that the exact log admits: 9064 and 10279
}
