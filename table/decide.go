package table

import (
	"math/bits"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
)

// Allow counts an event of the given cost on key if the limit admits it at now, and reports whether
// it did. Cost 0 asks without counting or creating the key; limit 0 denies everything;
// [tallyring.Unlimited] admits everything and counts. A denial is loads only. A key that finds no
// cell follows the policy.
func (t *Table) Allow(key uint64, now tallyring.Tick, cost, limit uint64) bool {
	if key <= t.apart {
		return t.allowApart(key, now, cost, limit)
	}
	home, _ := bits.Mul64(key*spread, uint64(len(t.quads)))
	quad, p := &t.quads[home], &t.packed
	for distance := uint64(1); quad != nil; distance++ {
		pair := &quad[match(quad, key)&3]
		state := pair.State.Load()
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableLooked)
		}
		if pair.Key.Load() != key {
			quad = t.after(home, distance)
			continue
		}
		counts := p.Counts(state, now)
		if now < 0 || !p.Newest(counts) {
			return t.allowIn(pair, state, key, home, now, cost, limit)
		}
		full, high := p.Sums(counts, cost)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableConfirm)
		}
		if full > limit && pair.State.Load() == state {
			return false
		}
		if high > limit || !p.Plain(cost, limit) {
			return t.allowIn(pair, state, key, home, now, cost, limit)
		}
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableHit)
		}
		if pair.State.CompareAndSwap(state, state+cost) {
			return true
		}
		break
	}
	return t.allowSlow(key, home, now, cost, limit)
}

// allowIn is Allow for a key whose cell of one word was seen to hold it, and then state.
func (t *Table) allowIn(
	pair *tallyring.Pair, state, key, home uint64, now tallyring.Tick, cost, limit uint64,
) bool {
	if pending(state) {
		return t.allowSlow(key, home, now, cost, limit)
	}
	next, allowed := t.transition.Next(state, now, cost, limit)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableHit)
	}
	if next == state && pair.State.Load() == state ||
		next != state && pair.State.CompareAndSwap(state, next) {
		return allowed
	}
	return t.allowSlow(key, home, now, cost, limit)
}

// allowApart is Allow for a key that is a reserved fingerprint, for a cell of one word that is no
// window, and for a cell of one line or more, which is a group by itself.
func (t *Table) allowApart(key uint64, now tallyring.Tick, cost, limit uint64) bool {
	key, home := t.home(key)
	if t.groupCells != 1 {
		return t.allowWord(key, home, now, cost, limit)
	}
	pair := t.pair(home)
	head := pair.State.Load()
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableLooked)
	}
	if pair.Key.Load() != key || pending(head) {
		return t.allowSlow(key, home, now, cost, limit)
	}
	switch t.tagged.Try(t.ring(home), head, now, cost, limit) {
	case atomicring.Admitted:
		return true
	case atomicring.Denied:
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableConfirm)
		}
		if pair.State.Load() == head {
			return false
		}
	}
	return t.allowSlow(key, home, now, cost, limit)
}

// allowWord is Allow for a cell of one word, whatever it holds.
func (t *Table) allowWord(key, home uint64, now tallyring.Tick, cost, limit uint64) bool {
	quad := &t.quads[home]
	for distance := uint64(1); quad != nil; distance++ {
		pair := &quad[match(quad, key)&3]
		state := pair.State.Load()
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableLooked)
		}
		if pair.Key.Load() != key {
			quad = t.after(home, distance)
			continue
		}
		return t.allowIn(pair, state, key, home, now, cost, limit)
	}
	return t.allowSlow(key, home, now, cost, limit)
}

// allowSlow is Allow wherever the key may be, or come to be. An attempt is repeated only when
// another goroutine has changed the key's cell, or a rotation or an insertion has gone a step
// further.
func (t *Table) allowSlow(key, home uint64, now tallyring.Tick, cost, limit uint64) bool {
	limit = t.clamped(limit)
	if cost > limit || limit == 0 {
		return false
	}
	for {
		cell, state, ok := t.find(key, home)
		switch {
		case ok:
			if allowed, done := t.tryAllow(cell, state, now, cost, limit); done {
				return allowed
			}
		case cost == 0:
			return true
		case !t.insert(key, home, now):
			return t.allowFull(now, cost, limit)
		}
	}
}

// clamped returns the limit that decides.
func (t *Table) clamped(limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	return min(limit, t.MaxLimit())
}

// tryAllow decides on a cell that held the key when it held state. It is done unless the cell has
// changed since; a swap that succeeds proves that it has not.
func (t *Table) tryAllow(
	cell, state uint64, now tallyring.Tick, cost, limit uint64,
) (allowed, done bool) {
	word := &t.pair(cell).State
	if t.groupCells == 1 {
		verdict := t.tagged.Try(t.ring(cell), state, now, cost, limit)
		counted := verdict == atomicring.Admitted && cost > 0
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableConfirm)
		}
		return verdict == atomicring.Admitted,
			counted || verdict != atomicring.Again && word.Load() == state
	}
	next, allowed := t.transition.Next(state, now, cost, limit)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableHit)
	}
	if next == state {
		return allowed, word.Load() == state
	}
	return allowed, word.CompareAndSwap(state, next)
}

// allowFull is Allow for a key that found no cell.
func (t *Table) allowFull(now tallyring.Tick, cost, limit uint64) bool {
	if t.policy == Overflow {
		return t.overflow.Allow(now, cost, limit)
	}
	return t.policy == Allow
}

// Take is Allow with the whole answer.
func (t *Table) Take(key uint64, now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	key, home := t.home(key)
	limit = t.clamped(limit)
	for {
		cell, state, ok := t.find(key, home)
		switch {
		case ok:
			if d, done := t.tryTake(cell, state, now, cost, limit); done {
				return d
			}
		case cost == 0 || cost > limit || limit == 0:
			return t.takeNothing(now, cost, limit)
		case !t.insert(key, home, now):
			return t.takeFull(now, cost, limit)
		}
	}
}

// tryTake is tryAllow with the whole answer.
func (t *Table) tryTake(
	cell, state uint64, now tallyring.Tick, cost, limit uint64,
) (d tallyring.Decision, done bool) {
	word := &t.pair(cell).State
	if t.groupCells == 1 {
		d, verdict := t.tagged.TryTake(t.ring(cell), state, now, cost, limit)
		counted := verdict == atomicring.Admitted && cost > 0
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableConfirm)
		}
		return d, counted || verdict != atomicring.Again && word.Load() == state
	}
	next, d := t.transition.Take(state, now, cost, limit)
	if tallyring.Holding {
		tallyring.AtPoint(tallyring.TableHit)
	}
	if next == state {
		return d, word.Load() == state
	}
	return d, word.CompareAndSwap(state, next)
}

// takeNothing is Take for a key that counts nothing and that the event does not create.
func (t *Table) takeNothing(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	d := tallyring.Decision{
		Allowed:   cost <= limit && limit > 0,
		Limit:     limit,
		Remaining: limit,
		At:        max(now, 0),
	}
	if !d.Allowed {
		d.RetryAfter = tallyring.Never
	}
	return d
}

// takeFull is Take for a key that found no cell.
func (t *Table) takeFull(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	switch t.policy {
	case Overflow:
		return t.overflow.Take(now, cost, limit)
	case Allow:
		return tallyring.Decision{
			Allowed: true, Limit: limit, Remaining: limit, At: tallyring.Uncounted,
		}
	}
	return tallyring.Decision{Limit: limit, At: max(now, 0), RetryAfter: t.window.Length()}
}

// Read returns what key counts at now, with its error. A key without a cell counts nothing.
func (t *Table) Read(key uint64, now tallyring.Tick) tallyring.Reading {
	key, home := t.home(key)
	for {
		cell, state, ok := t.find(key, home)
		if !ok {
			return tallyring.Reading{}
		}
		var reading tallyring.Reading
		verdict := atomicring.Admitted
		if t.groupCells == 1 {
			reading, verdict = t.tagged.TryRead(t.ring(cell), state, now)
		} else {
			reading = t.transition.Read(state, now)
		}
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableConfirm)
		}
		if verdict != atomicring.Again && t.pair(cell).State.Load() == state {
			return reading
		}
	}
}

// Refund takes back count events of key that were counted at the tick at, which is Decision.At of
// the event. It never takes more than the bucket holds, and does nothing once the bucket has left
// the window or is saturated. Where the policy is Overflow and key has no cell, it was counted in
// the shared ring, if at all. A refund at [tallyring.Uncounted] changes nothing.
func (t *Table) Refund(key uint64, at tallyring.Tick, count uint64) {
	if at == tallyring.Uncounted {
		return
	}
	key, home := t.home(key)
	for {
		cell, state, ok := t.find(key, home)
		if !ok {
			if t.overflow != nil {
				t.overflow.Refund(at, count)
			}
			return
		}
		if t.groupCells == 1 {
			if t.tagged.TryRefund(t.ring(cell), state, at, count) != atomicring.Again {
				return
			}
			continue
		}
		next := t.transition.Refund(state, at, count)
		if tallyring.Holding {
			tallyring.AtPoint(tallyring.TableHit)
		}
		if next == state || t.pair(cell).State.CompareAndSwap(state, next) {
			return
		}
	}
}
