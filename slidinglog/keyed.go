package slidinglog

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v3"
	"github.com/tallyring/tallyring"
)

// MaxKeys is the most keys that a Keyed can be made for.
const MaxKeys = 1 << 30

// Keyed is one exact log per key. A key is a 64-bit hash: two keys that are equal share a log, and
// others never disturb each other. It takes no stand on what happens to a key for which there is no
// place: the verbs that count say so, and the caller applies its policy. A Keyed must not be
// copied. All methods may be called from any number of goroutines.
//
// # Places
//
// Any number of live keys up to the one asked for always fit. A key is live while something was
// counted for it in the window that ends now, by the caller's tick. A key that is not live is as
// good as new, and its place is given to another when one is needed; a live key never loses its.
//
// A new key that needs a place looks at 8 others at most. To keep the promise nonetheless there
// are a third more places than keys, and while more than that number of keys are held, every key
// that starts to count, new or after a whole idle window, moves a hand over the next 8 places and
// frees those whose key has expired. In one turn of the hand over C places, C/8 keys start; what
// was not live at the begin of the turn and did not start is freed by its end. So no more than
// keys + 2C/8 places are taken at any time, and C is chosen to be that. (This is the argument by
// which an incremental garbage collector keeps its heap bounded.)
//
// A new key starts at the horizon, the latest tick at which a key that lost its place stopped to
// count. Ticks that never go back are never before it. A tick that is behind it by clock or by
// scheduling is late for a new key, so a key that lost its place gains no second budget within one
// window of ticks as counted.
type Keyed struct {
	span
	keys    int
	logs    *xsync.MapOf[uint64, *entry]
	horizon atomic.Int64 // nanoseconds; written by whoever holds mu, before the map loses a key
	held    atomic.Int64 // places taken; written by whoever holds mu
	full    atomic.Int64 // nanoseconds; no place is free nor will be before; written under mu
	refused atomic.Uint64

	mu      sync.Mutex // locked before an entry's, never the other way round
	places  []*entry   // nil where free; grows to capacity(keys); the index is a place
	free    []int      // the free places below len(places)
	hand    int        // the place that is looked at next
	alive   int        // how many live keys the hand has passed in a row
	soonest int64      // nanoseconds; the first of those expires no earlier
	reused  uint64     // how often a key lost its place
}

// entry is one key and its log. It belongs to its key until it is dead, and is never used again.
type entry struct {
	book
	key  uint64
	dead bool // no longer in the map, or about to leave it
}

// KeyedStats is the state of a Keyed at one tick, and what happened to it so far.
type KeyedStats struct {
	Places  int    // the most keys it can hold
	Live    int    // keys for which something was counted in the window
	Expired int    // keys that hold a place and are as good as new
	Runs    int    // distinct ticks remembered, over all keys
	Bytes   int    // memory of all runs and places; the map around them is not in it
	Reused  uint64 // how often a place was taken from an expired key
	Refused uint64 // how often there was no place for a new key
}

// NewKeyed returns an empty log for each of at least keys live keys. The length of their window is
// more than 0 and at most tallyring.MaxLength; keys is 1 to MaxKeys. Memory is taken as keys come.
func NewKeyed(length time.Duration, keys int) (*Keyed, error) {
	if err := validate(length); err != nil {
		return nil, err
	}
	if keys < 1 || keys > MaxKeys {
		return nil, fmt.Errorf("slidinglog: room for %d keys, want 1 to %d", keys, MaxKeys)
	}
	return &Keyed{span: newSpan(length), keys: keys, logs: xsync.NewMapOf[uint64, *entry]()}, nil
}

// Length returns W, the length of every key's window.
func (k *Keyed) Length() time.Duration { return time.Duration(k.length) }

// Allow is Log.Allow for key. It returns placed false, and has counted nothing, where the event
// would pass but there was no place for its key.
func (k *Keyed) Allow(key uint64, now tallyring.Tick, cost, limit uint64) (allowed, placed bool) {
	tick := clamp(now)
	if e, ok := k.logs.Load(key); ok && e.denies(tick, cost, limit) {
		return false, true
	}
	e := k.lookUp(key)
	started := e != nil && k.expired(e, tick)
	if e == nil {
		if cost == 0 || !admits(0, cost, limit) {
			return admits(0, cost, limit), true
		}
		if e = k.place(key, tick); e == nil {
			return false, false
		}
	}
	allowed = k.allow(&e.book, tick, cost, limit)
	e.mu.Unlock()
	if started && allowed && cost > 0 {
		k.restart(tick)
	}
	return allowed, true
}

// Take is Log.Take for key. Where there was no place for a new key, placed is false and the
// decision is a denial whose RetryAfter is the length of the window, as a hint.
func (k *Keyed) Take(
	key uint64, now tallyring.Tick, cost, limit uint64,
) (d tallyring.Decision, placed bool) {
	tick := clamp(now)
	e := k.lookUp(key)
	started := e != nil && k.expired(e, tick)
	if e == nil {
		if cost == 0 || !admits(0, cost, limit) {
			return k.takeNothing(tick, cost, limit), true
		}
		if e = k.place(key, tick); e == nil {
			return tallyring.Decision{
				Limit: limit, At: k.startOf(tick), RetryAfter: time.Duration(k.length),
			}, false
		}
	}
	d = k.take(&e.book, tick, cost, limit)
	e.mu.Unlock()
	if started && d.Allowed && cost > 0 {
		k.restart(tick)
	}
	return d, true
}

// takeNothing is the decision on an event that will not be counted, for a key without a log.
func (k *Keyed) takeNothing(tick int64, cost, limit uint64) tallyring.Decision {
	d := tallyring.Decision{
		Allowed: admits(0, cost, limit), Limit: limit, Remaining: limit, At: k.startOf(tick),
	}
	if !d.Allowed {
		d.RetryAfter = tallyring.Never // what an empty log denies, no log will ever admit
	}
	return d
}

// startOf returns the tick as counted of an event that a key without a log starts with.
func (k *Keyed) startOf(tick int64) tallyring.Tick {
	return tallyring.Tick(max(tick, k.horizon.Load()))
}

// Read is Log.Read for key. A key without a log counts nothing.
func (k *Keyed) Read(key uint64, now tallyring.Tick) tallyring.Reading {
	e := k.lookUp(key)
	if e == nil {
		return tallyring.Reading{}
	}
	r := k.read(&e.book, clamp(now))
	e.mu.Unlock()
	return r
}

// Add is Log.Add for key. It returns placed false, and has counted nothing, where there was no
// place for a new key.
func (k *Keyed) Add(key uint64, now tallyring.Tick, count uint64) (counted, placed bool) {
	tick := clamp(now)
	e := k.lookUp(key)
	started := e != nil && k.expired(e, tick)
	if e == nil {
		if late := tick <= k.horizon.Load()-k.length; late || count == 0 {
			return !late, true
		}
		if e = k.place(key, tick); e == nil {
			return false, false
		}
	}
	counted = k.add(&e.book, tick, count)
	e.mu.Unlock()
	if started && counted && count > 0 {
		k.restart(tick)
	}
	return counted, true
}

// Refund is Log.Refund for key.
func (k *Keyed) Refund(key uint64, at tallyring.Tick, count uint64) {
	if e := k.lookUp(key); e != nil {
		k.refund(&e.book, clamp(at), count)
		e.mu.Unlock()
	}
}

// Stats looks at every key, which takes time in proportion to their number and makes new keys wait
// meanwhile.
func (k *Keyed) Stats(now tallyring.Tick) KeyedStats {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := KeyedStats{Places: capacity(k.keys), Reused: k.reused, Refused: k.refused.Load()}
	for _, e := range k.places {
		if e == nil {
			continue
		}
		e.mu.Lock()
		if k.expired(e, clamp(now)) {
			s.Expired++
		} else {
			s.Live++
		}
		s.Runs += e.size
		s.Bytes += entryBytes + cap(e.ring)*runBytes
		e.mu.Unlock()
	}
	s.Bytes += cap(k.places)*wordBytes + cap(k.free)*wordBytes
	return s
}
