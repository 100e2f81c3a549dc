package pertcore_test

import (
	"fmt"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/pertcore"
)

func ExampleNewLimiter() {
	// A whole upstream may take a thousand requests in any second, whoever sends them.
	l, err := pertcore.NewLimiter(
		tallyring.Window{Slots: 11, Width: 100 * time.Millisecond, Strict: true}, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	admitted := 0
	for now := range tallyring.Tick(1500) {
		if l.Allow(now*1e6, 1) { // one per millisecond, for a second and a half
			admitted++
		}
	}
	fmt.Println(admitted, "of 1500 in 1.5 s")
	d := l.Take(1500e6, 1)
	fmt.Println(d.Allowed, d.Remaining)
	// Output:
	// 1400 of 1500 in 1.5 s
	// true 99
}

func ExampleNewCounter() {
	c, err := pertcore.NewCounter(tallyring.Window{Slots: 4, Width: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, now := range []tallyring.Tick{5e9, 15e9, 25e9, 35e9} {
		c.Add(now, 8)
	}
	r := c.Read(35e9) // half of the oldest bucket has left the window
	fmt.Println(r.Low, r.Estimate, r.High)
	// Output: 24 28 32
}
