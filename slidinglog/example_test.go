package slidinglog_test

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/slidinglog"
)

// A fixed window admits 200 requests within two seconds here: 100 in the last second of one minute
// and 100 in the first of the next. The log admits 100.
func ExampleLog() {
	log, err := slidinglog.New(time.Minute)
	if err != nil {
		panic(err)
	}
	allowed := 0
	for _, now := range []time.Duration{59 * time.Second, 60 * time.Second} {
		for range 100 {
			if log.Allow(tallyring.Tick(now), 1, 100) {
				allowed++
			}
		}
	}
	fmt.Println(allowed, "requests allowed in 2 seconds")
	// Output: 100 requests allowed in 2 seconds
}

func ExampleLog_Take() {
	log, err := slidinglog.New(time.Minute)
	if err != nil {
		panic(err)
	}
	start := tallyring.Tick(time.Hour)
	second := tallyring.Tick(time.Second)
	for _, now := range []tallyring.Tick{start, start + 10*second, start + 20*second} {
		d := log.Take(now, 1, 2)
		fmt.Println(d.Allowed, d.Remaining, d.RetryAfter, d.ResetAfter)
	}
	log.Refund(start, 1)
	fmt.Println(log.Allow(start+20*second, 1, 2))
	// Output:
	// true 1 0s 1m0s
	// true 0 0s 1m0s
	// false 0 40s 50s
	// true
}

func ExampleKeyed() {
	logins, err := slidinglog.NewKeyed(15*time.Minute, 1)
	if err != nil {
		panic(err)
	}
	ann, bob := uint64(0x9e3779b97f4a7c15), uint64(0xbf58476d1ce4e5b9)
	fmt.Println(logins.Allow(ann, 1, 1, 3))
	fmt.Println(logins.Allow(bob, 2, 1, 3)) // the only place is taken by a live key
	fmt.Println(logins.Allow(bob, 2+tallyring.Tick(15*time.Minute), 1, 3))
	// Output:
	// true true
	// false false
	// true true
}
