package gcra_test

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/gcra"
)

// One event a second, and a burst of two after a pause: an event now, and two seconds later as many
// as will pass, each as soon as it may.
func ExampleNew() {
	bucket, err := gcra.New(1, time.Second, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := tallyring.Tick(0)
	fmt.Print(bucket.Allow(now, 1), " at 0; then")
	now = tallyring.Tick(2 * time.Second)
	for range 5 {
		d := bucket.Take(now, 1)
		if !d.Allowed {
			now += tallyring.Tick(d.RetryAfter)
			d = bucket.Take(now, 1)
		}
		fmt.Print(" ", time.Duration(now))
	}
	fmt.Println()
	// Output:
	// true at 0; then 2s 2s 3s 4s 5s
}

// A decision says what is left, how long to wait, when the bucket will be full, and what a refund
// names.
func ExampleBucket_Take() {
	bucket, err := gcra.New(4, time.Second, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := tallyring.Tick(time.Hour)
	spent := bucket.Take(now, 8)
	fmt.Println(spent.Allowed, spent.Remaining, spent.ResetAfter)

	denied := bucket.Take(now, 5)
	fmt.Println(denied.Allowed, denied.Remaining, denied.RetryAfter)
	later := now + tallyring.Tick(denied.RetryAfter)
	fmt.Println(bucket.Allow(later-1, 5), bucket.Allow(later, 5))

	bucket.Refund(spent.At, 8)
	fmt.Println(bucket.Take(later, 0).Remaining)
	// Output:
	// true 2 2s
	// false 2 750ms
	// false true
	// 8
}

// What has happened already is charged without asking. Then nothing passes until it is paid for.
func ExampleBucket_Add() {
	bucket, err := gcra.New(10, time.Second, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	bucket.Add(0, 8)
	fmt.Println(bucket.Read(0).High, bucket.Take(0, 1).RetryAfter)
	// Output:
	// 8 400ms
}

// The state of many buckets of one rate is one word each. The caller keeps it, and replaces it by
// compare-and-swap where goroutines share it. The burst is an argument: here a key has its own.
func ExampleRate_Next() {
	rate, err := gcra.NewRate(100, time.Minute, 40)
	if err != nil {
		fmt.Println(err)
		return
	}
	words := map[string]uint64{} // 0 is a full bucket
	passed := map[string]int{}
	for _, key := range []string{"a", "b"} {
		burst := uint64(20)
		if key == "b" {
			burst = 40
		}
		for range 100 {
			next, ok := rate.Next(words[key], 0, 1, burst)
			if words[key] = next; ok {
				passed[key]++
			}
		}
	}
	fmt.Println(passed["a"], passed["b"])
	// Output:
	// 20 40
}

// A rate is refused only where no unit of time is fine enough for it, with an error that says what
// would do.
func ExampleNewRate() {
	for _, events := range []uint64{980_000_000, 7_000_000_000, 8_000_000_000} {
		_, err := gcra.NewRate(events, time.Second, 1000)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// <nil>
	// gcra: rate of 8000000000 per 1s is above 7 per nanosecond, want at most 7000000000
}
