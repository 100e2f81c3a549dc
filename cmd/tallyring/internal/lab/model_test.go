package lab

import (
	"math/big"
	"time"

	"github.com/tallyring/tallyring"
)

// model is the laboratory by its definitions, plain and slow: it keeps the ticks of one key, and
// weighs all of them at each question, in rational numbers.
type model struct {
	plan Plan
	kind Kind
	all  []tallyring.Tick // counted so far
	due  *big.Rat         // of a token bucket: when all that was charged is paid for
}

// bucketAt returns the bucket of a tick, where the window has so many parts, and how much of the
// bucket has passed, in widths.
func (m *model) bucketAt(tick tallyring.Tick) (index, elapsed *big.Rat) {
	parts := int64(max(m.kind.Resolution, 1))
	at := new(big.Rat).SetFrac64(int64(tick), 1)
	at.Mul(at, new(big.Rat).SetFrac64(parts, int64(m.plan.Window)))
	whole := new(big.Int).Quo(at.Num(), at.Denom())
	index = new(big.Rat).SetInt(whole)
	return index, new(big.Rat).Sub(at, index)
}

// estimate returns the sum of the weights of all that was counted.
func (m *model) estimate(now tallyring.Tick) *big.Rat {
	sum, one := new(big.Rat), big.NewRat(1, 1)
	bucket, elapsed := m.bucketAt(now)
	parts := big.NewRat(int64(max(m.kind.Resolution, 1)), 1)
	for _, tick := range m.all {
		at, _ := m.bucketAt(tick)
		age := new(big.Rat).Sub(bucket, at)
		switch {
		case m.kind.Name == "log":
			if tick > now-tallyring.Tick(m.plan.Window) {
				sum.Add(sum, one)
			}
		case m.kind.Name == "fixed":
			if age.Sign() == 0 {
				sum.Add(sum, one)
			}
		case age.Cmp(parts) < 0 || age.Cmp(parts) == 0 && m.kind.Name == "strict":
			sum.Add(sum, one)
		case age.Cmp(parts) == 0:
			sum.Add(sum, new(big.Rat).Sub(one, elapsed))
		}
	}
	return sum
}

// allow decides about one more, and counts it if it passes.
func (m *model) allow(now tallyring.Tick) bool {
	limit := new(big.Rat).SetInt(new(big.Int).SetUint64(m.plan.Limit))
	if m.kind.Name == "gcra" {
		return m.pay(now, limit)
	}
	next := new(big.Rat).Add(m.estimate(now), big.NewRat(1, 1))
	if next.Cmp(limit) > 0 {
		return false
	}
	m.all = append(m.all, now)
	return true
}

// pay charges a token bucket that holds the limit and refills with the limit per window.
func (m *model) pay(now tallyring.Tick, limit *big.Rat) bool {
	at := big.NewRat(int64(now), 1)
	due := new(big.Rat).Set(at)
	if m.due != nil && m.due.Cmp(at) > 0 {
		due.Set(m.due)
	}
	interval := new(big.Rat).Quo(big.NewRat(int64(m.plan.Window), 1), limit)
	due.Add(due, interval)
	if new(big.Rat).Sub(due, at).Cmp(big.NewRat(int64(m.plan.Window), 1)) > 0 {
		return false
	}
	m.due = due
	return true
}

// slowCount is a true count by its definition.
func slowCount(ticks []tallyring.Tick, upTo int, window time.Duration) (count int) {
	for _, tick := range ticks[:upTo+1] {
		if tick > ticks[upTo]-tallyring.Tick(window) {
			count++
		}
	}
	return count
}

// slowOpen is the open loop of one kind over the keys' ticks.
func slowOpen(p Plan, k Kind, keys [][]tallyring.Tick) (out Open, over int) {
	requests := 0
	for _, ticks := range keys {
		m := model{plan: p, kind: k}
		said, truly := false, false
		for i, now := range ticks {
			requests++
			m.all = append(m.all, now)
			truth := slowCount(ticks, i, p.Window)
			estimate := m.estimate(now)
			isOver := uint64(truth) > p.Limit
			saysOver := estimate.Cmp(big.NewRat(int64(p.Limit), 1)) > 0
			said, truly = said || saysOver, truly || isOver
			difference := new(big.Rat).Sub(estimate, big.NewRat(int64(truth), 1))
			off, _ := difference.Quo(difference, big.NewRat(int64(truth), 1)).Float64()
			out.sum += max(off, -off)
			out.LargestAbove = max(out.LargestAbove, off)
			out.LargestBelow = max(out.LargestBelow, -off)
			switch {
			case isOver && !saysOver:
				out.WrongAllow++
			case saysOver && !isOver:
				out.WrongDeny++
			}
			if isOver {
				over++
				out.sumOver += max(off, -off)
			}
		}
		if truly && !said {
			out.Missed++
		}
		if said && !truly {
			out.Accused++
		}
	}
	out.MeanDifference, out.MeanOver = out.sum/float64(requests), out.sumOver/float64(over)
	return out, over
}

// slowClosed is the closed loop of one kind.
func slowClosed(p Plan, k Kind, keys [][]tallyring.Tick) (out Closed, exactDenied int) {
	for _, ticks := range keys {
		m, exact := model{plan: p, kind: k}, model{plan: p, kind: Kind{}}
		exact.kind.Name = "log"
		var kept []tallyring.Tick
		said, truly := false, false
		for _, now := range ticks {
			admitted, truth := m.allow(now), exact.allow(now)
			if admitted {
				kept = append(kept, now)
			} else {
				out.Denied++
			}
			if !truth {
				exactDenied++
			}
			said, truly = said || !admitted, truly || !truth
			switch {
			case admitted && !truth:
				out.WrongAllow++
			case !admitted && truth:
				out.WrongDeny++
			}
		}
		for i := range kept {
			out.WorstTrailing = max(out.WorstTrailing, slowCount(kept, i, p.Window))
		}
		if truly && !said {
			out.Missed++
		}
		if said && !truly {
			out.Accused++
		}
	}
	return out, exactDenied
}
