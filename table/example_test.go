package table_test

import (
	"fmt"
	"hash/maphash"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// A limit of two events a minute for each client. Keys are hashes, seeded so that nobody can choose
// names that collide.
func Example() {
	t, err := table.New(table.Config{
		Window: tallyring.Window{Slots: 2, Width: time.Minute},
		Keys:   100_000,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	seed := maphash.MakeSeed()
	const now, limit = tallyring.Tick(0), 2
	for _, client := range []string{"ann", "ann", "ben", "ann"} {
		key := maphash.String(seed, client)
		fmt.Println(client, t.Allow(key, now, 1, limit))
	}
	// Output:
	// ann true
	// ann true
	// ben true
	// ann false
}

// A denial says after how long the same event will pass.
func ExampleTable_Take() {
	t, err := table.New(table.Config{
		Window: tallyring.Window{Slots: 7, Width: 10 * time.Second, Strict: true},
		Keys:   1000,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	const key, limit = 42, 3
	now := tallyring.Tick(5 * time.Second)
	fmt.Println("remaining", t.Take(key, now, 2, limit).Remaining)
	d := t.Take(key, now, 2, limit)
	fmt.Println(d.Allowed, "retry after", d.RetryAfter)
	fmt.Println(t.Allow(key, now+tallyring.Tick(d.RetryAfter)-1, 2, limit))
	fmt.Println(t.Allow(key, now+tallyring.Tick(d.RetryAfter), 2, limit))
	// Output:
	// remaining 1
	// false retry after 1m5s
	// false
	// true
}

// What was counted can be taken back, from the bucket that it was counted in.
func ExampleTable_Refund() {
	t, err := table.New(table.Config{
		Window: tallyring.Window{Slots: 2, Width: time.Second}, Keys: 10,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := t.Take(7, 0, 5, 5)
	t.Refund(7, d.At, 2)
	fmt.Println(t.Read(7, 0).High, t.Take(7, 0, 0, 5).Remaining)
	// Output: 3 2
}

// A table is as large as it is made, and a key that counts something never loses its cell. Keys
// that find none follow the policy; here they share one ring.
func ExamplePolicy() {
	t, err := table.New(table.Config{
		Window:   tallyring.Window{Slots: 2, Width: time.Second},
		Keys:     1,
		WhenFull: table.Overflow,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	const limit = 3
	cells := t.Stats(0).Cells
	for key := range cells {
		t.Allow(key, 0, limit, limit)
	}
	for key := cells; key < cells+4; key++ {
		fmt.Println(t.Allow(key, 0, 1, limit))
	}
	fmt.Println("refused", t.Stats(0).Refused, "taken over", t.Stats(0).TakenOver)

	later := tallyring.Tick(2 * time.Second) // every key has expired
	fmt.Println(t.Allow(1000, later, limit, limit), "taken over", t.Stats(later).TakenOver)
	// Output:
	// true
	// true
	// true
	// false
	// refused 4 taken over 0
	// true taken over 1
}
