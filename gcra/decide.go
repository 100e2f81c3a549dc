package gcra

import "github.com/tallyring/tallyring"

// Due returns the instant at which word is due, counted from the start of its span, if that is the
// span of the given unit, and otherwise a value for which Newest is false. Units, Due, Newest, Debt
// and Plain make the shortest decision, in parts that inline: see Bucket.Allow.
func (r *Rate) Due(word, units uint64) uint64 {
	return word ^ (units-r.Elapsed(units))<<1&unmarked
}

// Newest tells whether due is that of a word that was last charged in this span.
func (r *Rate) Newest(due uint64) bool { return due < r.newer }

// Debt returns what is owed after an event of the given cost, in units. Where it is above the depth
// of a burst the event is denied, whatever its cost: a debt that wraps does so for a cost above
// every burst. Where it is not, the burst and the cost are Plain, and due is Newest, the event is
// admitted by adding the debt to the word, less due, plus Elapsed. Otherwise Next must tell.
func (r *Rate) Debt(due, units, cost uint64) uint64 {
	return uint64(max(int64(due-r.Elapsed(units)), 0)) + cost*r.perEvent
}

// Elapsed returns what has passed of the span of a unit.
func (r *Rate) Elapsed(units uint64) uint64 { return units & r.inSpan }

// Depth returns the most debt that a burst allows, in units, if the burst is Plain.
func (r *Rate) Depth(burst uint64) uint64 { return burst * r.perEvent }

// Plain tells whether words hold the burst, and the cost is 1 to burst.
func (r *Rate) Plain(cost, burst uint64) bool { return burst <= r.maxBurst && cost-1 < burst }

// standing is a word as of one unit: what a decision weighs.
type standing struct {
	index   uint64 // of the span, not reduced: later than that of the unit given if that was late
	elapsed uint64 // units of the span that have passed, 0 where the unit was late
	debt    uint64 // units
	lag     uint64 // units by which that given was late: up to the start of the span
}

// standing returns word as of a unit or, where that is late, of the start of word's span.
func (r *Rate) standing(word, units uint64) standing {
	s := standing{index: units >> (r.spanBits & 63), elapsed: units & r.inSpan}
	due := word & (r.newer - 1)
	behind := r.behind(word, units)
	switch {
	case word == 0 || behind > 1:
		return s
	case behind == 1:
		due -= min(due, r.inSpan+1)
	case behind < 0:
		s.lag = uint64(-behind)<<(r.spanBits&63) - s.elapsed
		s.index, s.elapsed = s.index-uint64(behind), 0
	}
	s.debt = due - min(due, s.elapsed)
	return s
}

// admits is the one test that admits, for a burst that is clamped.
func (r *Rate) admits(s standing, cost, burst uint64) bool {
	if burst == tallyring.Unlimited {
		return true
	}
	return burst > 0 && cost <= burst && s.debt <= r.Depth(burst-cost)
}

// Next decides on an event at now. It returns the word that is charged for it and true, or word
// itself and false where the event is denied. It returns word itself and true for an event of cost
// 0 that the burst would admit.
func (r *Rate) Next(word uint64, now tallyring.Tick, cost, burst uint64) (uint64, bool) {
	units := r.Units(max(now, 0))
	due := r.Due(word, units)
	if !r.Newest(due) || !r.Plain(cost, burst) {
		return r.nextSlow(word, units, cost, burst)
	}
	debt := r.Debt(due, units, cost)
	if debt > r.Depth(burst) {
		return word, false
	}
	return word - due + r.Elapsed(units) + debt, true
}

// nextSlow is Next where a glance does not tell.
func (r *Rate) nextSlow(word, units, cost, burst uint64) (uint64, bool) {
	s := r.standing(word, units)
	if !r.admits(s, cost, r.Clamp(burst)) {
		return word, false
	}
	return r.charge(word, s, cost), true
}

// charge returns the word for s once count events are charged, or word where that is none.
func (r *Rate) charge(word uint64, s standing, count uint64) uint64 {
	if count == 0 {
		return word
	}
	debt, _ := r.owed(s.debt, count)
	return r.stored(s.index)<<((r.spanBits+1)&63) | (s.elapsed + debt)
}

// owed returns the debt that is left once count events are charged, and whether that is all of it:
// no more than MaxBurst events are owed, save where a late unit looks back on them.
func (r *Rate) owed(debt, count uint64) (uint64, bool) {
	most := r.Depth(r.maxBurst)
	room := most - min(debt, most)
	if count > r.maxBurst || count*r.perEvent > room {
		return max(debt, most), false
	}
	return debt + count*r.perEvent, true
}

// Add charges without deciding. It returns the new word, and whether all of it was charged: false
// where the debt has reached MaxBurst.
func (r *Rate) Add(word uint64, now tallyring.Tick, count uint64) (uint64, bool) {
	s := r.standing(word, r.Units(max(now, 0)))
	_, all := r.owed(s.debt, count)
	return r.charge(word, s, count), all
}

// Refund takes back what was charged at the tick at, which is Decision.At. The word is never due
// before that tick or the start of its span, and stays itself where at lies in neither its span nor
// the one before, or where at is Uncounted.
func (r *Rate) Refund(word uint64, at tallyring.Tick, count uint64) uint64 {
	if at == tallyring.Uncounted {
		return word
	}
	units := r.Units(max(at, 0))
	due, floor := word&(r.newer-1), uint64(0)
	switch r.behind(word, units) {
	case 0:
		floor = min(units&r.inSpan, due)
	case -1:
	default:
		return word
	}
	back := due - floor
	if count <= back/r.perEvent {
		back = count * r.perEvent
	}
	return word - back
}
