package main

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// plainBucket is a token bucket as the package comment of gcra has it, plain and slow: it keeps
// what is owed at the newest tick. It may have a fault, of the names in refillFaults.
type plainBucket struct {
	rate  uint64
	fault string

	mu     sync.Mutex
	owed   int64 // at newest, in parts: rate of them are paid in a nanosecond
	newest int64
	calls  int
}

// parts returns what pays for events: a second is rate events.
func parts(events uint64) int64 { return int64(events) * 1e9 }

func (p *plainBucket) rarely(fault string) bool { return p.fault == fault && p.calls%150 == 0 }

// debt returns what is owed at now: at a late tick more than at the newest.
func (p *plainBucket) debt(now tallyring.Tick) int64 {
	paidNanos := max(int64(now), 0) - p.newest
	if p.owed == 0 || paidNanos > 1e10 {
		return 0
	}
	return max(p.owed-paidNanos*int64(p.rate), 0)
}

func (p *plainBucket) Allow(now tallyring.Tick, cost, burst uint64) bool {
	return p.Take(now, cost, burst).Allowed
}

func (p *plainBucket) Take(now tallyring.Tick, cost, burst uint64) tallyring.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	debt := p.debt(now)
	room := parts(burst) - debt
	if p.fault == "admits one too many" {
		room += parts(1)
	}
	d := tallyring.Decision{At: max(now, 0), Limit: burst, Remaining: uint64(max(room, 0) / 1e9)}
	d.Allowed = parts(cost) <= room
	if !d.Allowed {
		d.RetryAfter = 1
		if p.rarely("charges what it denies") {
			p.owed += parts(1)
		}
		return d
	}
	charge := parts(cost)
	switch {
	case p.rarely("loses a charge"):
		charge = 0
	case p.rarely("charges twice"):
		charge *= 2
	}
	if p.fault == "refills from late ticks" && int64(now) < p.newest {
		charge = 0
	}
	if int64(d.At) > p.newest {
		p.owed, p.newest = debt, int64(d.At)
	}
	p.owed += charge
	d.ResetAfter = 1
	p.lie(&d)
	return d
}

// lie changes an answer.
func (p *plainBucket) lie(d *tallyring.Decision) {
	switch p.fault {
	case "makes an admitted event wait":
		d.RetryAfter = 1
	case "was charged before it came":
		d.At--
	case "leaves too much":
		d.Remaining = d.Limit + 1
	}
}

func (p *plainBucket) Read(now tallyring.Tick) tallyring.Reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	debt := p.debt(now)
	if p.fault == "reads too much" {
		debt += parts(1)
	}
	r := tallyring.Reading{Low: uint64(debt / 1e9), High: uint64((debt + 1e9 - 1) / 1e9),
		Estimate: float64(debt) / 1e9}
	return r
}

func (p *plainBucket) Refund(_ tallyring.Tick, count uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.fault {
	case "ignores refunds":
		return
	case "takes back twice":
		count *= 2
	}
	p.owed -= parts(count)
}

// refillFaults are what a plain bucket may do wrong, and what the load says of it.
var refillFaults = map[string]string{
	"admits one too many":          `want exactly|want at most|leaves more`,
	"charges what it denies":       `owes`,
	"loses a charge":               `owes`,
	"charges twice":                `owes`,
	"refills from late ticks":      `owes`,
	"makes an admitted event wait": `wait`,
	"was charged before it came":   `outside`,
	"leaves too much":              `leaves more`,
	"reads too much":               `owes`,
	"ignores refunds":              `owes`,
	"takes back twice":             `owes`,
}

// Goal: each assertion on token buckets can fail, and none fails for a bucket that is right.
// Method: a plain bucket, without a fault and with each, in a run of its own.
func TestFaultsOfTokenBucketsAreSeen(t *testing.T) {
	part := func(fault string) func(*builder) error {
		return func(b *builder) error {
			const rate = 700
			b.add(newRefillLoad(b.desk("plain"), rate, true, noMemory,
				&plainBucket{rate: rate, fault: fault}))
			return nil
		}
	}
	require.NoError(t, soakOf(t, part("none")).survive(rightRounds))
	for fault, says := range refillFaults {
		err := soakOf(t, part(fault)).survive(faultRounds)
		if assert.Error(t, err, "a bucket that %s", fault) {
			assert.Regexp(t, `^plain: .*`+says, err.Error(), fault)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
}
