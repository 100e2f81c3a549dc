package tallyring_test

import (
	"fmt"
	"math"
	"time"

	"github.com/tallyring/tallyring"
)

// One minute, counted in steps of ten seconds: seven slots, since the oldest is partly outside.
func ExampleWindow() {
	w := tallyring.Window{Slots: 7, Width: 10 * time.Second}
	fmt.Println(w.Length(), w.Validate())

	fixed := tallyring.Window{Slots: 1, Width: time.Minute}
	fmt.Println(fixed.Length(), fixed.Validate())
	// Output:
	// 1m0s <nil>
	// 1m0s <nil>
}

func ExampleWindow_Validate() {
	fmt.Println(tallyring.Window{Slots: 0, Width: time.Minute}.Validate())
	fmt.Println(tallyring.Window{Slots: 2, Width: -time.Minute}.Validate())
	// Output:
	// tallyring: window has 0 slots, want 1 to 65536
	// tallyring: window width is -1m0s, want more than 0
}

// A test moves time by hand.
func ExampleManualClock() {
	var clock tallyring.ManualClock
	clock.Set(1_000)
	fmt.Println(clock.Now())
	fmt.Println(clock.Advance(time.Microsecond))
	// Output:
	// 1000
	// 2000
}

// RetryAfter is never a guess: it is 0, an exact time, or Never.
func ExampleDecision() {
	hopeless := tallyring.Decision{Limit: 10, Remaining: 10, RetryAfter: tallyring.Never}
	fmt.Println(hopeless.Allowed, hopeless.RetryAfter == math.MaxInt64)
	// Output:
	// false true
}

// The words of a line belong to one key, and cost one cache miss.
func ExampleNewLines() {
	lines := tallyring.NewLines(2)
	words := tallyring.Words(lines)
	words[8].Add(41)
	lines[1].Words[0].Add(1)
	fmt.Println(len(words), words[8].Load())
	// Output:
	// 16 42
}

// A hit changes the state alone. A takeover changes key and state together, and fails if a hit came
// in between.
func ExamplePair_CompareAndSwap() {
	pairs := tallyring.Pairs(tallyring.NewLines(1))
	pair := &pairs[0]
	fmt.Println(pair.CompareAndSwap(0, 0, 17, 1))
	fmt.Println(pair.State.CompareAndSwap(1, 2))
	fmt.Println(pair.CompareAndSwap(17, 1, 99, 1))
	fmt.Println(pair.Key.Load(), pair.State.Load())
	// Output:
	// true
	// true
	// false
	// 17 2
}

// Each processor adds to a counter of its own; a reader adds them up. An id beyond the array, after
// GOMAXPROCS has grown, shares a counter.
func ExamplePin() {
	lines := tallyring.NewLines(4)
	id := tallyring.Pin()
	lines[id%len(lines)].Words[0].Add(1)
	tallyring.Unpin()

	sum := uint64(0)
	for i := range lines {
		sum += lines[i].Words[0].Load()
	}
	fmt.Println(sum)
	// Output:
	// 1
}
