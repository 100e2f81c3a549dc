package main

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// plainKeys is a structure of many keys as the contract has it, plain and slow: a strict window for
// each, room for a number of live ones, and a policy. It may have a fault, of the names in
// churnFaults and floodFaults.
type plainKeys struct {
	shape
	room   int
	policy table.Policy
	fault  string

	mu       sync.Mutex
	keys     map[uint64]*plainWindow
	overflow *plainWindow
	horizon  tallyring.Tick // a key begins no earlier: what was forgotten counts no more
	counts   keyedState
	calls    int
}

func newPlainKeys(s shape, room int, policy table.Policy, fault string) *plainKeys {
	return &plainKeys{shape: s, room: room, policy: policy, fault: fault,
		keys: map[uint64]*plainWindow{}, overflow: newPlainWindow(s, "none")}
}

func (p *plainKeys) ask(keys []uint64, now tallyring.Tick, limit uint64, allowed []bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, key := range keys {
		p.calls++
		allowed[i] = p.askOne(key, max(now, 0), limit)
	}
}

func (p *plainKeys) take(key uint64, now tallyring.Tick, limit uint64) tallyring.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	ring, ok := p.keys[key]
	if !ok {
		if p.full(now) {
			return tallyring.Decision{}
		}
		ring = p.begin(key)
	}
	return ring.Take(now, 1, limit)
}

// begin gives a key a window of its own.
func (p *plainKeys) begin(key uint64) *plainWindow {
	ring := newPlainWindow(p.shape, "none")
	if p.fault != "has no horizon" {
		ring.newest = p.bucket(p.horizon)
	}
	p.keys[key] = ring
	return ring
}

func (p *plainKeys) rarely(fault string) bool { return p.fault == fault && p.calls%100 == 0 }

func (p *plainKeys) askOne(key uint64, now tallyring.Tick, limit uint64) bool {
	ring, ok := p.keys[key]
	switch {
	case ok && p.rarely("gives a key two cells"):
		ring = p.begin(key)
	case !ok && p.full(now):
		p.counts.refused++
		return p.refuse(now, limit)
	case !ok:
		ring = p.begin(key)
	}
	allowed := ring.Allow(now, 1, limit)
	if p.rarely("loses a key's count") {
		ring.Refund(now, 1)
	}
	return allowed
}

// full tells whether a new key finds no room, once what has expired is forgotten.
func (p *plainKeys) full(now tallyring.Tick) bool {
	room := p.room
	if p.fault == "refuses too early" {
		room -= 10
	}
	if len(p.keys) >= room {
		for key, ring := range p.keys {
			leaves := p.leaves(tallyring.Tick(ring.newest * p.widthNanos))
			if leaves <= now {
				delete(p.keys, key)
				p.horizon = max(p.horizon, leaves)
			}
		}
	}
	if len(p.keys) >= room && p.fault == "evicts a live key" {
		for key := range p.keys {
			delete(p.keys, key)
			return false
		}
	}
	return len(p.keys) >= room
}

// refuse follows the policy.
func (p *plainKeys) refuse(now tallyring.Tick, limit uint64) bool {
	switch {
	case p.rarely("breaks the policy"):
		return p.policy != table.Allow
	case p.policy == table.Overflow:
		if p.fault == "overflows without a limit" {
			limit = 1e9
		}
		return p.overflow.Allow(now, 1, limit)
	}
	return p.policy == table.Allow
}

func (p *plainKeys) read(key uint64, now tallyring.Tick) tallyring.Reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ring, ok := p.keys[key]; ok {
		return ring.Read(now)
	}
	return tallyring.Reading{}
}

func (p *plainKeys) state(now tallyring.Tick) keyedState {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.counts
	s.cells = uint64(p.room)
	for _, ring := range p.keys {
		s.live += one(p.leaves(tallyring.Tick(ring.newest*p.widthNanos)) > now)
	}
	if p.fault == "counts what is live wrong" {
		s.live++
	}
	return s
}

func (p *plainKeys) bytes() int { return 0 }

// Goal: a key that is given two budgets, loses a count, or is denied what is its own, is seen.
// Method: plain keys, without a fault and with each, in a run of its own.
func TestFaultsOfNewKeysAreSeen(t *testing.T) {
	s := shape{whole, int64(4 * time.Second), 2}
	part := func(fault string) func(*builder) error {
		return func(b *builder) error {
			b.add(newChurnLoad(b.desk("plain"), s, b.churnKeys(), b.calls, b.numberRange(),
				newPlainKeys(s, b.churnKeys()+ghostRoom, table.Deny, fault)))
			return nil
		}
	}
	right := soakOf(t, part("none"))
	require.NoError(t, right.survive(rightRounds))
	load := right.builder.loads[0].(*churnLoad)
	require.Greater(t, load.next-1<<56, uint64(10*len(load.held)), "sets of new keys")
	for fault, says := range map[string]string{
		"gives a key two cells": `let \d pass, want exactly|reads`,
		"loses a key's count":   `let \d pass, want exactly|reads`,
		"has no horizon":        `has spent its limit, comes back at tick`,
	} {
		err := soakOf(t, part(fault)).survive(faultRounds)
		if assert.Error(t, err, "a structure that %s", fault) {
			assert.Regexp(t, `^plain: key \d+ .*`+says, err.Error(), fault)
		}
	}
}

// Goal: a fresh budget for a debtor, a broken policy, and a table that is full too early are seen.
// Method: as above, for each policy.
func TestFaultsUnderAFloodAreSeen(t *testing.T) {
	s := shape{whole, int64(time.Minute), 2}
	part := func(policy table.Policy, fault string) func(*builder) error {
		return func(b *builder) error {
			b.add(newFloodLoad(b.desk("plain"), s, 300, policy, b.numberRange(),
				newPlainKeys(s, 300, policy, fault)))
			return nil
		}
	}
	says := map[string]string{
		"evicts a live key":         `fresh budget|keys are live`,
		"breaks the policy":         `want \d+ to pass|were refused`,
		"refuses too early":         `were refused with \d+ live keys, want 300`,
		"counts what is live wrong": `\d+ keys are live in 300 cells, want`,
		"overflows without a limit": `want \d+ to pass`,
	}
	for _, policy := range []table.Policy{table.Deny, table.Allow, table.Overflow} {
		right := soakOf(t, part(policy, "none"))
		require.NoError(t, right.survive(rightRounds))
		done := right.builder.desks["plain"].evidence
		require.Greater(t, min(done.seeds, done.debts, done.refused), uint64(1))
		for fault, says := range says {
			if fault == "overflows without a limit" && policy != table.Overflow {
				continue
			}
			err := soakOf(t, part(policy, fault)).survive(faultRounds)
			if assert.Error(t, err, "policy %d, a structure that %s", policy, fault) {
				assert.Regexp(t, `^plain: .*`+says, err.Error(), fault)
			}
		}
	}
}

// Goal: of the debtors alone it is seen that one of them got a fresh budget. Method: a debtor that
// is forgotten when the table is full, so that all counts of keys are right nonetheless.
func TestAFreshBudgetIsSeen(t *testing.T) {
	s := shape{whole, int64(time.Minute), 2}
	keys := newPlainKeys(s, 300, table.Deny, "none")
	run := soakOf(t, func(b *builder) error {
		b.add(newFloodLoad(b.desk("plain"), s, 300, table.Deny, b.numberRange(), keys))
		return nil
	})
	require.NoError(t, run.survive(1))
	load := run.builder.loads[0].(*floodLoad)
	var err error
	for range 20 {
		keys.keys[load.debtors[3]].counts = map[int64]uint64{}
		if err = run.survive(1); err != nil {
			break // a round before may have begun a new flood, with the debt counted anew
		}
	}
	require.Regexp(t, `^plain: debtor 3 got a fresh budget at tick \d+, want it denied`, err)
}
