package limiter_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// TestNoDecisionAllocates calls every verb with every form of key, allowed and denied, while ticks
// go through buckets, with limits of keys and without. A log is first driven until its ring has
// the size that it needs.
func TestNoDecisionAllocates(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for _, limit := range []uint64{0, 3, 50} {
			clock := &tallyring.ManualClock{}
			clock.Set(start)
			l := k.build(t, limit, limiter.WithClock(clock))
			verbs := everyVerb(l, clock)
			for _, own := range []bool{false, true} {
				if own {
					require.NoError(t, l.SetKeyLimit(l.Key("text"), limit+1))
				}
				for range 100 {
					for _, call := range verbs {
						call()
					}
				}
				for name, call := range verbs {
					require.Zero(t, testing.AllocsPerRun(100, call), "%s, limit %d", name, limit)
				}
			}
		}
	})
}

// everyVerb returns a call of each verb and form of key. The clock goes on with most of them.
func everyVerb(l *limiter.Limiter, clock *tallyring.ManualClock) map[string]func() {
	bytes, batch := []byte("bytes"), []limiter.Key{l.Key("text"), l.Key("b"), l.Key("c")}
	allowed := make([]bool, len(batch))
	addr := netip.MustParseAddr("2001:db8::1")
	tick := func() tallyring.Tick { return clock.Advance(window / 37) }
	return map[string]func(){
		"Allow":      func() { tick(); l.Allow("text") },
		"AllowN":     func() { l.AllowN("text", 2) },
		"AllowN 0":   func() { l.AllowN("text", 0) },
		"AllowAt":    func() { l.AllowAt("text", tick(), 1) },
		"late":       func() { l.AllowAt("text", clock.Now()-1000, 1) },
		"AllowKey":   func() { l.AllowKey(l.Key("text"), clock.Now(), 1) },
		"bytes":      func() { l.AllowKey(l.KeyBytes(bytes), tick(), 1) },
		"parts":      func() { l.AllowKey(l.KeyParts("a", "b"), tick(), 1) },
		"address":    func() { l.AllowKey(l.KeyAddr(addr), tick(), 1) },
		"AllowMany":  func() { l.AllowMany(batch, tick(), 1, allowed) },
		"Prefetch":   func() { l.Prefetch(batch...) },
		"Prefetch 1": func() { l.Prefetch(batch[0]) },
		"Take":       func() { l.Take("text", 1) },
		"TakeAt":     func() { l.TakeAt("text", tick(), 1) },
		"TakeKey":    func() { l.TakeKey(batch[1], clock.Now(), 1000) },
		"PeekAt":     func() { l.PeekAt("text", clock.Now()) },
		"PeekKey":    func() { l.PeekKey(batch[2], clock.Now()) },
		"RefundAt":   func() { l.RefundAt("text", l.Take("text", 1).At, 1) },
		"RefundKey":  func() { l.RefundKey(batch[1], clock.Now(), 1) },
		"SetLimit":   func() { _ = l.SetLimit(l.Limit()) },
		"far ahead":  func() { l.AllowAt("ahead", clock.Now()+tallyring.Tick(10*window), 1) },
		"above":      func() { l.AllowAt("text", clock.Now(), 1000) },
		"unknown":    func() { l.AllowAt("unknown", clock.Now(), 0) },
		"unknown to": func() { l.RefundAt("unknown", clock.Now(), 1) },
	}
}

// TestNoNewKeyAllocates counts on keys that are new each time, in a limiter with room and in one
// that is full, under each policy. The log, whose memory follows its keys, is not asked.
func TestNoNewKeyAllocates(t *testing.T) {
	for _, k := range kinds[:len(kinds)-1] {
		for _, policy := range []limiter.FullPolicy{limiter.Deny, limiter.Allow, limiter.Overflow} {
			l := k.build(t, 10, limiter.WithKeys(500), limiter.WithFullPolicy(policy))
			key := [2]byte{}
			allocs := testing.AllocsPerRun(2000, func() {
				if key[0]++; key[0] == 0 {
					key[1]++
				}
				l.AllowKey(l.KeyBytes(key[:]), start, 1)
			})
			require.Zero(t, allocs, "%s, policy %d", k.name, policy)
			require.Positive(t, l.StatsAt(start).Refused, "it was full in the end")
		}
	}
}
