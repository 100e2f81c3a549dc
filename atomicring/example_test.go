package atomicring_test

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// The classic form: previous + current. A quarter into the second minute, three quarters of the
// first minute's 84 events are still in the window.
func ExampleRing_Estimate() {
	ring, err := atomicring.New(tallyring.Window{Slots: 2, Width: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	const minute = tallyring.Tick(time.Minute)
	ring.Add(0, 84)
	ring.Add(minute, 30)
	now := minute + minute/4
	fmt.Println(ring.Estimate(now))
	fmt.Println(ring.Allow(now, 7, 100), ring.Allow(now, 1, 100))
	// Output:
	// 93
	// true false
}

// A strict window counts the oldest bucket whole until it has left, so that no trailing window
// holds more than the limit. An interpolated one lets half a bucket's events in when half of it
// has passed.
func ExampleNew_strict() {
	const second = tallyring.Tick(time.Second)
	for _, strict := range []bool{true, false} {
		window := tallyring.Window{Slots: 7, Width: 10 * time.Second, Strict: strict}
		ring, err := atomicring.New(window)
		if err != nil {
			fmt.Println(err)
			return
		}
		ring.Allow(9*second, 100, 100)
		fmt.Println(
			ring.Allow(65*second, 50, 100),
			ring.Allow(70*second, 50, 100),
		)
	}
	// Output:
	// false true
	// true true
}

// A decision says what is left, how long to wait, and what a refund names.
func ExampleRing_Take() {
	ring, err := atomicring.New(tallyring.Window{Slots: 2, Width: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	const limit = 10
	now := tallyring.Tick(time.Second) - 1
	spent := ring.Take(now, 8, limit)
	fmt.Println(spent.Allowed, spent.Remaining)

	denied := ring.Take(now, 6, limit)
	fmt.Println(denied.Allowed, denied.Remaining, denied.RetryAfter)
	later := now + tallyring.Tick(denied.RetryAfter)
	fmt.Println(ring.Allow(later-1, 6, limit), ring.Allow(later, 6, limit))

	ring.Refund(spent.At, 8)
	fmt.Println(ring.Take(later, 0, limit).Remaining)
	// Output:
	// true 2
	// false 2 500.000001ms
	// false true
	// 4
}

// A ring for a known limit holds it exactly, or is refused with an error that says what to change:
// a window so narrow that no count of that size fits beside indexes that last ten years.
func ExampleNewFor() {
	for _, width := range []time.Duration{10, time.Microsecond, time.Second} {
		ring, err := atomicring.NewFor(tallyring.Window{Slots: 7, Width: width}, 1_000_000)
		if err != nil {
			fmt.Println(width, "refused")
			continue
		}
		fmt.Println(width, ring.Allow(0, 1_000_000, 1_000_000), ring.Allow(0, 1, 1_000_000))
	}
	// Output:
	// 10ns refused
	// 1µs refused
	// 1s true false
}
