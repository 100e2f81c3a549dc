package replay

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/tallyring/tallyring"
)

// event is one request. The order of arrival fills what would otherwise be padding.
type event struct {
	tick tallyring.Tick
	key  uint32
	seq  uint32
}

// Events collects requests and then hands them out in the order of time. It is used by one
// goroutine.
type Events struct {
	kind   KeyKind
	list   []event
	sorted bool
	ids    map[string]uint32
	names  []string // of the keys as KeyKind joins them, by their id
	buffer []byte
}

// NewEvents returns an empty collection of requests that are counted by kind.
func NewEvents(kind KeyKind) *Events {
	return &Events{kind: kind, sorted: true, ids: make(map[string]uint32)}
}

// errTooMany is returned where an event could not be numbered any more.
var errTooMany = errors.New("more than 4294967295 requests, want a shorter log")

// Add appends a request of the client, path and agent that make up its key. The strings are copied
// where they are kept.
func (e *Events) Add(tick tallyring.Tick, client, path, agent string) error {
	if uint64(len(e.list)) == math.MaxUint32 {
		return errTooMany
	}
	e.buffer = e.kind.appendKey(e.buffer[:0], client, path, agent)
	id, ok := e.ids[string(e.buffer)]
	if !ok {
		id = uint32(len(e.names))
		name := string(e.buffer)
		e.ids[name] = id
		e.names = append(e.names, name)
	}
	if n := len(e.list); n > 0 && e.list[n-1].tick > tick {
		e.sorted = false
	}
	e.list = append(e.list, event{tick: tick, key: id, seq: uint32(len(e.list))})
	return nil
}

// Len returns the number of requests.
func (e *Events) Len() int { return len(e.list) }

// Keys returns the number of distinct keys.
func (e *Events) Keys() int { return len(e.names) }

// Sort puts the requests into the order of time, and those of one tick into the order in which
// they were added. Logs are written in order but for a few seconds, and then there is little to do.
func (e *Events) Sort() {
	if e.sorted {
		return
	}
	slices.SortFunc(e.list, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.seq, b.seq))
	})
	e.sorted = true
}

// First returns the tick of the first request in time, after Sort; there must be one.
func (e *Events) First() tallyring.Tick { return e.list[0].tick }

// Last returns the tick of the last request in time, after Sort; there must be one.
func (e *Events) Last() tallyring.Tick { return e.list[len(e.list)-1].tick }

// Name returns the readable name of a key, 0 to Keys()-1.
func (e *Events) Name(key int) string { return e.kind.text(e.names[key]) }

// AppendTicks appends the ticks of the requests at the given indexes.
func (e *Events) AppendTicks(to []tallyring.Tick, of []uint32) []tallyring.Tick {
	for _, i := range of {
		to = append(to, e.list[i].tick)
	}
	return to
}

// Index finds the requests of a key: those of key k, in the order of time, are
// at[starts[k]:starts[k+1]].
type Index struct {
	starts []uint32
	at     []uint32
}

// Index returns the index of the events, which must be sorted.
func (e *Events) Index() Index {
	starts := make([]uint32, len(e.names)+1)
	for i := range e.list {
		starts[e.list[i].key+1]++
	}
	for k := range e.names {
		starts[k+1] += starts[k]
	}
	next := slices.Clone(starts)
	at := make([]uint32, len(e.list))
	for i := range e.list {
		k := e.list[i].key
		at[next[k]] = uint32(i)
		next[k]++
	}
	return Index{starts: starts, at: at}
}

// Of returns the indexes of the requests of one key.
func (x Index) Of(key int) []uint32 { return x.at[x.starts[key]:x.starts[key+1]] }
