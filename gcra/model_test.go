package gcra

import (
	"math/big"

	"github.com/tallyring/tallyring"
)

// model is the contract of a bucket, word for word, in nanoseconds that are exact fractions: no
// modulus, no packing, no concurrency. It takes from the layout under test how fine its unit is and
// how long its span, and nothing else. It is the oracle of the tests and as slow as it likes.
type model struct {
	interval *big.Rat // nanoseconds that pay for one event
	unit     *big.Rat
	spanLen  *big.Rat
	maxBurst uint64

	due  *big.Rat // when all is paid for
	span *big.Int // the latest in which anything was charged
	used bool     // something was charged, ever
}

func newModel(events, per uint64, r *Rate) *model {
	m := &model{
		interval: new(big.Rat).SetFrac(whole(per), whole(events)),
		maxBurst: r.maxBurst,
		due:      new(big.Rat),
		span:     new(big.Int),
	}
	m.unit = new(big.Rat).Quo(m.interval, new(big.Rat).SetInt(whole(r.perEvent)))
	m.spanLen = new(big.Rat).Mul(m.unit, new(big.Rat).SetInt(whole(1<<r.spanBits)))
	return m
}

func whole(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// floored returns x/y rounded down.
func floored(x, y *big.Rat) *big.Int {
	q := new(big.Rat).Quo(x, y)
	return new(big.Int).Div(q.Num(), q.Denom())
}

// times returns n times x.
func times(n *big.Int, x *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), x)
}

// clock returns the start of the unit that nanos falls in, and the span of that.
func (m *model) clock(nanos *big.Int) (at *big.Rat, span *big.Int) {
	at = times(floored(new(big.Rat).SetInt(nanos), m.unit), m.unit)
	return at, floored(at, m.spanLen)
}

// view returns the instant as of which an event is decided, and its span: for a late one the start
// of the latest span.
func (m *model) view(nanos *big.Int) (at *big.Rat, span *big.Int) {
	at, span = m.clock(nanos)
	if m.used && span.Cmp(m.span) < 0 {
		return times(m.span, m.spanLen), m.span
	}
	return at, span
}

// debt returns what is owed at nanos, in time.
func (m *model) debt(nanos *big.Int) *big.Rat {
	at, _ := m.view(nanos)
	debt := new(big.Rat).Sub(m.due, at)
	if !m.used || debt.Sign() < 0 {
		return new(big.Rat)
	}
	return debt
}

// effective returns the burst that decides.
func (m *model) effective(burst uint64) uint64 {
	if burst == tallyring.Unlimited {
		return burst
	}
	return min(burst, m.maxBurst)
}

func (m *model) admits(nanos *big.Int, cost, burst uint64) bool {
	burst = m.effective(burst)
	if burst == tallyring.Unlimited {
		return true
	}
	if burst == 0 || cost > burst {
		return false
	}
	charged := new(big.Rat).Add(m.debt(nanos), times(whole(cost), m.interval))
	return charged.Cmp(times(whole(burst), m.interval)) <= 0
}

// charge owes so many events more, up to maxBurst, and tells whether it could owe all of them.
func (m *model) charge(nanos *big.Int, count uint64) bool {
	debt := m.debt(nanos)
	charged := new(big.Rat).Add(debt, times(whole(count), m.interval))
	most, all := times(whole(m.maxBurst), m.interval), true
	if charged.Cmp(most) > 0 {
		if charged, all = most, false; debt.Cmp(most) > 0 {
			charged = debt
		}
	}
	if count > 0 {
		at, span := m.view(nanos)
		m.due, m.span, m.used = charged.Add(charged, at), span, true
	}
	return all || count == 0
}

func (m *model) allow(nanos *big.Int, cost, burst uint64) bool {
	if !m.admits(nanos, cost, burst) {
		return false
	}
	m.charge(nanos, cost)
	return true
}

// refund takes back what was charged in this span or the one before.
func (m *model) refund(nanos *big.Int, count uint64) {
	at, span := m.clock(nanos)
	age := new(big.Int).Sub(m.span, span)
	if !m.used || age.Sign() < 0 || age.Cmp(whole(1)) > 0 {
		return
	}
	if start := times(m.span, m.spanLen); at.Cmp(start) < 0 {
		at = start
	}
	back := new(big.Rat).Sub(m.due, times(whole(count), m.interval))
	if back.Cmp(at) < 0 {
		back = at
	}
	if back.Cmp(m.due) < 0 {
		m.due = back
	}
}

// remaining returns the largest cost that would pass.
func (m *model) remaining(nanos *big.Int, burst uint64) uint64 {
	burst = m.effective(burst)
	if burst == tallyring.Unlimited {
		return burst
	}
	room := times(whole(burst), m.interval)
	if room.Sub(room, m.debt(nanos)).Sign() < 0 {
		return 0
	}
	return floored(room, m.interval).Uint64()
}
