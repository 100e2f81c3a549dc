package main

import (
	"sync"

	"github.com/tallyring/tallyring"
)

// plainWindow is a window as the contract has it, plain and slow, and with a fault of choice, so
// that the tests can show that the oracle sees each. It knows interpolated and whole windows.
type plainWindow struct {
	shape
	fault string // none, or what it does wrong, of the names in windowFaults

	mu     sync.Mutex
	counts map[int64]uint64
	newest int64
	calls  int
}

func newPlainWindow(s shape, fault string) *plainWindow {
	return &plainWindow{shape: s, fault: fault, counts: map[int64]uint64{}}
}

// rarely is true for one call of 150, if the window has this fault.
func (p *plainWindow) rarely(fault string) bool { return p.fault == fault && p.calls%150 == 0 }

// slot returns under which number a bucket is counted.
func (p *plainWindow) slot(bucket int64) int64 {
	if p.fault == "index wraps soon" {
		return bucket % 64
	}
	return bucket
}

// place returns the tick at which an event is decided and counted.
func (p *plainWindow) place(now tallyring.Tick) tallyring.Tick {
	now = max(now, 0)
	if p.bucket(now) < p.newest && p.fault != "late ticks decide alone" {
		now = tallyring.Tick(p.newest * p.widthNanos)
	}
	return now
}

// weigh returns the count without the oldest bucket, with it, and the estimate times the width.
func (p *plainWindow) weigh(at tallyring.Tick) (low, high, scaled uint64) {
	width := uint64(p.widthNanos)
	for age := range p.slots {
		if p.bucket(at) < age {
			break
		}
		count, share := p.counts[p.slot(p.bucket(at)-age)], width
		if age > 0 && age == p.slots-1 {
			if p.kind == interpolated {
				share -= uint64(at) % width
			}
		} else {
			low += count
		}
		high, scaled = high+count, scaled+count*share
	}
	return low, high, scaled
}

func (p *plainWindow) Allow(now tallyring.Tick, cost, limit uint64) bool {
	return p.Take(now, cost, limit).Allowed
}

func (p *plainWindow) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	at, width := p.place(now), uint64(p.widthNanos)
	_, _, scaled := p.weigh(at)
	bound := limit
	switch {
	case p.rarely("admits one too many"):
		bound++
	case p.fault == "denies one too early":
		bound--
	}
	d := tallyring.Decision{Limit: limit, At: at}
	d.Allowed = cost <= limit && scaled+cost*width <= bound*width
	d.Allowed = d.Allowed || cost > limit && p.fault == "admits what can never pass"
	switch {
	case cost > limit:
		d.RetryAfter = tallyring.Never
	case !d.Allowed:
		d.RetryAfter = 1
	}
	if d.Allowed && cost > 0 {
		p.count(at, cost)
	}
	if !d.Allowed && p.rarely("charges what it denies") {
		p.count(at, 1)
	}
	if cost == 0 && p.fault == "counts a peek" {
		p.count(at, 1)
	}
	p.lie(&d, now)
	return d
}

// count counts an event, as well as the fault allows.
func (p *plainWindow) count(at tallyring.Tick, cost uint64) {
	bucket := p.bucket(at)
	if bucket > p.newest {
		if p.fault == "loses a count on a turn" && p.counts[p.newest] > 0 {
			p.counts[p.newest]--
		}
		if p.fault == "loses a bucket on a turn" {
			p.counts[p.newest] = 0
		}
		p.newest = bucket
	}
	switch {
	case p.rarely("loses a count"):
		cost--
	case p.rarely("counts twice"):
		cost *= 2
	case p.rarely("counts in the bucket before") && bucket > 0:
		bucket--
	}
	p.counts[p.slot(bucket)] += cost
}

// lie changes an answer.
func (p *plainWindow) lie(d *tallyring.Decision, now tallyring.Tick) {
	switch p.fault {
	case "names another limit":
		d.Limit++
	case "leaves more than the limit":
		d.Remaining = d.Limit + 1
	case "makes an admitted event wait":
		d.RetryAfter++
	case "gives a denied event no wait":
		d.RetryAfter = 0
	case "never lets pass":
		if !d.Allowed {
			d.RetryAfter = tallyring.Never
		}
	case "was counted before it came":
		d.At = now - 1
	case "was counted ahead of time":
		d.At += tallyring.Tick(p.widthNanos)
	}
}

func (p *plainWindow) Read(now tallyring.Tick) tallyring.Reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	low, high, scaled := p.weigh(p.place(now))
	r := tallyring.Reading{Low: low, High: high,
		Estimate: float64(scaled) / float64(p.widthNanos)}
	switch p.fault {
	case "reads too much":
		r.High++
	case "reads the oldest as the rest":
		r.Low = r.High
	case "estimates nothing":
		r.Estimate = float64(r.Low) * 0.9
	}
	return r
}

func (p *plainWindow) Refund(at tallyring.Tick, count uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	bucket := p.bucket(at)
	switch {
	case p.newest-bucket >= p.slots || p.fault == "ignores refunds":
		return
	case p.fault == "takes back twice":
		count *= 2
	case p.fault == "takes back from the newest":
		bucket = p.newest
	}
	p.counts[p.slot(bucket)] -= min(count, p.counts[p.slot(bucket)])
}

// Add counts without deciding.
func (p *plainWindow) Add(now tallyring.Tick, count uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	bucket := p.bucket(now)
	switch {
	case p.newest-bucket >= p.slots:
		return p.fault == "keeps quiet about what it drops"
	case p.fault == "drops what is late" && bucket < p.newest:
		return false
	case p.fault == "counts late adds as new" && count > 0:
		bucket = max(bucket, p.newest)
	case p.rarely("loses an add"):
		return true
	}
	if count > 0 {
		p.newest = max(p.newest, bucket)
		p.counts[p.slot(bucket)] += count
	}
	return true
}
