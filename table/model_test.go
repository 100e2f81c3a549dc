package table

import (
	"math/big"

	"github.com/tallyring/tallyring"
)

// model is the contract of a table whose keys all fit: one ring per key, and rings know nothing of
// each other. Buckets carry their true numbers, sums are integers of any size, and nothing is ever
// evicted. It is as slow as it is plain.
type model struct {
	window   tallyring.Window
	maxLimit uint64
	rings    map[uint64]*modelRing
}

// modelRing is what one key counts: bucket number to count. Buckets that left the ring stay in the
// map and are looked at no more.
type modelRing struct {
	used    bool
	newest  int64
	buckets map[int64]uint64
}

// weight is an estimate times the width. over says that a count in it is saturated.
type weight struct {
	low, high uint64
	scaled    *big.Int
	over      bool
}

func newModel(w tallyring.Window, maxLimit uint64) *model {
	return &model{window: w, maxLimit: maxLimit, rings: map[uint64]*modelRing{}}
}

func (m *model) ring(key uint64) *modelRing {
	if m.rings[key] == nil {
		m.rings[key] = &modelRing{buckets: map[int64]uint64{}}
	}
	return m.rings[key]
}

// full is the count that stays.
func (m *model) full() uint64 { return m.maxLimit + 1 }

// place returns the bucket in which an event of key at now is decided, and the nanoseconds of it
// that have passed (rule S7).
func (m *model) place(key uint64, now tallyring.Tick) (bucket, elapsed int64) {
	nanos, width := max(int64(now), 0), int64(m.window.Width)
	bucket, elapsed = nanos/width, nanos%width
	if r := m.ring(key); r.used && r.newest > bucket {
		return r.newest, 0
	}
	return bucket, elapsed
}

// weigh sums the ring of key as of now (rules S1 and S13).
func (m *model) weigh(key uint64, now tallyring.Tick) weight {
	r, n, width := m.ring(key), int64(m.window.Slots), int64(m.window.Width)
	bucket, elapsed := m.place(key, now)
	w := weight{scaled: new(big.Int)}
	for i := bucket - n + 1; i <= bucket; i++ {
		count, share := r.buckets[i], width
		if count == 0 {
			continue
		}
		if i == bucket-n+1 && n > 1 {
			if !m.window.Strict {
				share = width - elapsed
			}
		} else {
			w.low += count
		}
		w.high += count
		w.over = w.over || count == m.full()
		w.scaled.Add(w.scaled, times(count, uint64(share)))
	}
	return w
}

func times(a, b uint64) *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
}

// decides returns the limit that decides.
func (m *model) decides(limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	return min(limit, m.maxLimit)
}

// never tells whether an event can not pass at any time (rules S4 and S5).
func (m *model) never(cost, limit uint64) bool {
	return limit == 0 || limit != tallyring.Unlimited && cost > m.decides(limit)
}

// admits is rule S2. It changes nothing.
func (m *model) admits(key uint64, now tallyring.Tick, cost, limit uint64) bool {
	if m.never(cost, limit) {
		return false
	}
	if limit == tallyring.Unlimited {
		return true
	}
	w := m.weigh(key, now)
	width := uint64(m.window.Width)
	sum := w.scaled.Add(w.scaled, times(cost, width))
	return !w.over && sum.Cmp(times(m.decides(limit), width)) <= 0
}

// allow decides and counts.
func (m *model) allow(key uint64, now tallyring.Tick, cost, limit uint64) bool {
	if !m.admits(key, now, cost, limit) {
		return false
	}
	if cost > 0 {
		r := m.ring(key)
		bucket, _ := m.place(key, now)
		r.used, r.newest = true, bucket
		r.buckets[bucket] += min(cost, m.full()-r.buckets[bucket])
	}
	return true
}

// at is the tick at which an event of key at now is counted.
func (m *model) at(key uint64, now tallyring.Tick) tallyring.Tick {
	bucket, elapsed := m.place(key, now)
	return tallyring.Tick(bucket*int64(m.window.Width) + elapsed)
}

// remaining is the largest cost that passes at now.
func (m *model) remaining(key uint64, now tallyring.Tick, limit uint64) uint64 {
	if limit == tallyring.Unlimited {
		return limit
	}
	w, width := m.weigh(key, now), uint64(m.window.Width)
	room := times(m.decides(limit), width)
	room.Sub(room, w.scaled)
	if w.over || room.Sign() < 0 {
		return 0
	}
	return room.Div(room, times(width, 1)).Uint64()
}

// empty tells whether the estimate of key is 0 at now.
func (m *model) empty(key uint64, now tallyring.Tick) bool {
	return m.weigh(key, now).scaled.Sign() == 0
}

// estimate returns the weighted count as an exact fraction.
func (m *model) estimate(key uint64, now tallyring.Tick) *big.Rat {
	return new(big.Rat).SetFrac(m.weigh(key, now).scaled, times(uint64(m.window.Width), 1))
}

// refund is rule S16. Nothing was counted at Uncounted.
func (m *model) refund(key uint64, at tallyring.Tick, count uint64) {
	r := m.ring(key)
	bucket := max(int64(at), 0) / int64(m.window.Width)
	inRing := r.used && bucket > r.newest-int64(m.window.Slots) && bucket <= r.newest
	if inRing && at != tallyring.Uncounted && r.buckets[bucket] != m.full() {
		r.buckets[bucket] -= min(count, r.buckets[bucket])
	}
}

// live tells whether the time of key's ring has not passed at now (rule S18): its cell may not be
// given away, even where all of it was refunded.
func (m *model) live(key uint64, now tallyring.Tick) bool {
	r := m.ring(key)
	bucket := max(int64(now), 0) / int64(m.window.Width)
	return r.used && r.newest+int64(m.window.Slots) > bucket
}

// liveKeys returns how many keys are live at now.
func (m *model) liveKeys(now tallyring.Tick) int {
	n := 0
	for key := range m.rings {
		if m.live(key, now) {
			n++
		}
	}
	return n
}
