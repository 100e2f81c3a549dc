package gcra

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// duel lets two goroutines run a side each, round after round, both starting a round at once, as
// far as there are two processors. Between rounds one of them calls between.
func duel(rounds int, sides [2]func(round int), between func(round int)) {
	var met atomic.Int64
	var both sync.WaitGroup
	meet := func(times int) {
		// Ends when the other one, who waits for nothing else, has come here too.
		for met.Add(1); met.Load() < 2*int64(times); {
			runtime.Gosched()
		}
	}
	for i, side := range sides {
		both.Go(func() {
			for round := range rounds {
				meet(3*round + 1)
				side(round)
				meet(3*round + 2)
				if i == 0 {
					between(round)
				}
				meet(3*round + 3)
			}
		})
	}
	both.Wait()
}

// TestVerbsMeet lets each verb meet an event that is charged in attempts, at a tick at which the
// word moves to another span. In some rounds the event waits for the verb between its look at the
// word and its charge, and so is overtaken. Neither is ever lost, whoever was first.
func TestVerbsMeet(t *testing.T) {
	const burst = 10
	start := tallyring.Tick(1767225600e9)
	var b *Bucket
	var now tallyring.Tick
	var allowed, asked bool
	for _, c := range []struct {
		name string
		verb func()
		want func() uint64 // what is owed then
	}{
		{"Allow", func() { allowed = b.Allow(now, 6) }, func() uint64 { return 6 }},
		{"Take", func() { allowed = b.Take(now, 6).Allowed }, func() uint64 { return 6 }},
		{"Add", func() { b.Add(now, 2) }, func() uint64 { return 8 }},
		{"Refund", func() { b.Refund(start, 3) }, func() uint64 {
			return 6 + 10 - 3 - uint64((now-start)/second)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			overtaken := 0
			prepare := func() {
				b, now = bucket(t, 1, time.Second, burst), start
				if c.name == "Refund" {
					b.Add(start, 10)
					now += 6 * second
				}
			}
			prepare()
			span := tallyring.Tick(b.rate.Span())
			start += span - 3*second - start%span
			prepare()
			var looked, acted atomic.Int64
			const held = 16 // one round of so many
			verb := func(round int) {
				for round%held == 0 && looked.Load() < int64(round/held+1) {
					runtime.Gosched() // ends when the event has looked
				}
				c.verb()
				acted.Add(1)
			}
			event := func(round int) {
				var wait func()
				if round%held == 0 {
					wait = func() {
						for looked.Add(1); acted.Load() <= int64(round); {
							runtime.Gosched() // ends when the verb, which has begun, is done
						}
					}
				}
				var n int
				asked, n = ask(b, now, 6, wait)
				overtaken += n
			}
			duel(rounds(30_000), [2]func(int){verb, event}, func(round int) {
				owed := b.Read(now).High
				exclusive := c.name == "Allow" || c.name == "Take"
				if want := c.want(); owed != want || exclusive && allowed == asked {
					t.Errorf("%d: owed %d, want %d; %t, %t", round, owed, want, allowed, asked)
				}
				prepare()
			})
			require.GreaterOrEqual(t, overtaken, rounds(30_000)/held, "it was not overtaken")
		})
	}
}
