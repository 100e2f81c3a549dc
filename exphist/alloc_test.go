package exphist

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

// Goal: no call allocates, whatever it merges or forgets.
// Method: AllocsPerRun of every verb, as buckets leave and come, with weights of all sizes.
func TestNothingAllocates(t *testing.T) {
	for _, eps := range allEps {
		h := mustNew(t, time.Second, eps, 1<<40)
		e := mustEvents(t, 1000, eps, 1<<40)
		now, admitted, denied := tallyring.Tick(0), 0, 0
		count := func(allowed bool) {
			if allowed {
				admitted++
			} else {
				denied++
			}
		}
		for name, do := range map[string]func(){
			"Add":             func() { now += 1e6; h.Add(now, 1) },
			"Add a weight":    func() { now += 1e6; h.Add(now, uint64(now)) },
			"Add after idle":  func() { now += 2e9; h.Add(now, 1000) },
			"Add late":        func() { h.Add(now-5, 7) },
			"Allow":           func() { now += 1e6; count(h.Allow(now, 1, 1<<40)) },
			"Allow, denied":   func() { count(h.Allow(now, 1<<30, 1<<30)) },
			"Take":            func() { now += 1e6; count(h.Take(now, 1, 1<<40).Allowed) },
			"Take, denied":    func() { count(h.Take(now, 1<<30, 1<<30).Allowed) },
			"Read":            func() { h.Read(now); h.Estimate(now + 5e8) },
			"Events.Add":      func() { e.Add(1); e.Add(0) },
			"Events.Skip":     func() { e.Skip(3) },
			"Events.Allow":    func() { count(e.Allow(5, 1<<40)); count(e.Allow(5, 1)) },
			"Events.Read":     func() { e.Read(); e.Estimate() },
			"Events, forgets": func() { e.Add(1 << 30); e.Skip(1000) },
		} {
			h.Add(now, 1)
			assert.Zero(t, testing.AllocsPerRun(1000, do), "eps %v, %s", eps, name)
		}
		require.Positive(t, min(admitted, denied))
	}
}
