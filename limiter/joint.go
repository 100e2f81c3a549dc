package limiter

import (
	"fmt"

	"github.com/tallyring/tallyring"
)

// Demand is what an event asks of one limiter: to count it on a key.
type Demand struct {
	Limiter *Limiter
	Key     Key
}

// MaxDemands is the most demands that one event can make.
const MaxDemands = 8

// Joint is the answer to an event that made several demands. Of its Decision, Remaining is the
// least of all limits, RetryAfter and ResetAfter are the longest, and Limit is that of the demand
// which denied the event or, where it was allowed, of the one with the least left.
type Joint struct {
	tallyring.Decision
	DeniedBy int // the demand that denied the event, the one for longest if several did; else -1

	at      [MaxDemands]tallyring.Tick
	shadows demandSet // those that passed in shadow mode alone
}

// CountedAt returns the tick at which a demand of an event that was allowed is counted. It is a
// later one than that of the event where the event was late for the demand's key, and Decision.At
// is the latest of all. It is [tallyring.Uncounted] where the demand was denied and its limiter is
// in shadow mode, or where its key found no cell and the policy is Allow. It panics if demand is
// not 0 to MaxDemands-1.
func (j *Joint) CountedAt(demand int) tallyring.Tick { return j.at[demand] }

// TakeAll admits an event on all demands or on none, such as on its client and on the site: what
// one of them denies is counted by no other. It first asks all of them, which writes nothing; then
// it charges them in turn, and if one denies now, since another goroutine was faster, it takes the
// charges back.
//
// So no limit is ever exceeded, and what is denied is not counted. While a charge is being taken
// back, another event may be denied for want of it, though the limits had room for one of the two.
// That is the one promise of a single limiter that does not hold for several.
//
// All limiters must have the same clock, or be given its ticks. A demand that is made twice is
// charged twice, while RetryAfter regards each by itself. It panics if there are more than
// MaxDemands.
func TakeAll(demands []Demand, now tallyring.Tick, cost uint64) Joint {
	checkDemands(demands)
	j, undone := takeAll(demands, now, cost)
	undone.wake(demands, (*queues).wake)
	return j
}

func checkDemands(demands []Demand) {
	if len(demands) > MaxDemands {
		panic(fmt.Sprintf("limiter: an event makes %d demands, want at most %d",
			len(demands), MaxDemands))
	}
}

// takeAll is TakeAll, but tells no queue of the charges that it has taken back.
func takeAll(demands []Demand, now tallyring.Tick, cost uint64) (j Joint, undone demandSet) {
	for _, d := range demands {
		d.Limiter.Prefetch(d.Key)
	}
	j = allowed()
	for i, d := range demands {
		answer, charged := d.ask(now, cost)
		if charged {
			undone.add(i)
		}
		j.add(i, answer)
	}
	if j.Allowed && cost > 0 {
		j = allowed()
		for i, d := range demands {
			j.add(i, d.take(now, cost))
			if !j.Allowed {
				undone |= j.refund(demands[:i], cost)
				break
			}
		}
	}
	if j.Allowed {
		j.passShadows(demands)
	}
	return j, undone
}

// demandSet is a set of demands, a bit for each.
type demandSet uint8

var _ [8]struct{} = [MaxDemands]struct{}{} // no more than bits of a demandSet

func (s *demandSet) add(demand int) { *s |= 1 << demand }

func (s demandSet) has(demand int) bool { return s>>demand&1 != 0 }

// wake serves those who wait for what the demands of the set have given back, by (*queues).wake or
// another way.
func (s demandSet) wake(demands []Demand, serve func(*queues, Key)) {
	for i, d := range demands {
		if s.has(i) {
			serve(d.Limiter.queues, d.Key)
		}
	}
}

// allowed returns the answer to an event without demands.
func allowed() Joint {
	j := Joint{DeniedBy: -1}
	j.Allowed, j.Limit, j.Remaining = true, tallyring.Unlimited, tallyring.Unlimited
	j.At = tallyring.Uncounted
	return j
}

// AllowAll is TakeAll without the answer in full.
func AllowAll(demands []Demand, now tallyring.Tick, cost uint64) bool {
	return TakeAll(demands, now, cost).Allowed
}

// RefundAll takes back an event that TakeAll admitted on the same demands, as RefundKey does on
// each; it is for once. It does nothing for an event that was denied. It panics if there are more
// than MaxDemands.
func RefundAll(demands []Demand, j Joint, cost uint64) {
	checkDemands(demands)
	if j.Allowed {
		j.refund(demands, cost).wake(demands, (*queues).wake)
	}
}

// refund takes back the charges of demands, and returns which had any. It wakes nobody.
func (j *Joint) refund(demands []Demand, cost uint64) (undone demandSet) {
	for i, d := range demands {
		if j.at[i] != tallyring.Uncounted {
			d.Limiter.refund(d.Key, j.at[i], cost)
			undone.add(i)
		}
	}
	return undone
}

// passShadows counts an event that was allowed where it passed in shadow mode alone.
func (j *Joint) passShadows(demands []Demand) {
	for i, d := range demands {
		if j.shadows.has(i) {
			d.Limiter.shadowDenied.Add(1)
		}
	}
}

// add enters the answer to demand i.
func (j *Joint) add(i int, d tallyring.Decision) {
	j.at[i] = d.At
	if d.Allowed && d.RetryAfter > 0 {
		j.shadows.add(i)
	}
	j.At = max(j.At, d.At)
	j.ResetAfter = max(j.ResetAfter, d.ResetAfter)
	switch {
	case !d.Allowed && (j.Allowed || d.RetryAfter > j.RetryAfter):
		j.Allowed, j.DeniedBy = false, i
		j.Limit, j.RetryAfter = d.Limit, d.RetryAfter
	case j.Allowed && d.Remaining <= j.Remaining:
		j.Limit = d.Limit
	}
	j.Remaining = min(j.Remaining, d.Remaining)
}

// ask returns what the limiter would answer to an event of the given cost, which it does not count.
// A denial in full comes of the event itself; one that passes nonetheless, because of what others
// did in between, is taken back, and then charged is true.
func (d Demand) ask(now tallyring.Tick, cost uint64) (answer tallyring.Decision, charged bool) {
	d.Limiter.lookAhead(now)
	asked := d.Limiter.ask(d.Key, now, 0)
	if asked.Allowed && asked.Remaining >= cost {
		return asked, false
	}
	answer = d.take(now, cost)
	charged = answer.Allowed && answer.At != tallyring.Uncounted && cost > 0
	if charged {
		d.Limiter.refund(d.Key, answer.At, cost)
	}
	return answer, charged
}

// take charges the demand alone. In shadow mode it is allowed at any rate.
func (d Demand) take(now tallyring.Tick, cost uint64) tallyring.Decision {
	answer := d.Limiter.ask(d.Key, now, cost)
	if !answer.Allowed && d.Limiter.Shadow() {
		pass(&answer)
	}
	return answer
}
