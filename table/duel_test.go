package table

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// A barrier brings a fixed number of goroutines together, again and again, within nanoseconds of
// each other where each has a processor.
type barrier struct {
	parties int64
	arrived atomic.Int64
}

// meet returns when all parties have called it as often as the caller has.
func (b *barrier) meet(turn int64) {
	b.arrived.Add(1)
	for spin := 0; b.arrived.Load() < (turn+1)*b.parties; spin++ {
		if spin%64 == 63 {
			runtime.Gosched() // ends when the others have arrived, who wait for nothing else
		}
	}
}

// A duel lets two goroutines insert one key at one moment, over and over. One's clock is one bucket
// behind, so they may claim different cells.
type duel struct {
	window tallyring.Window
	table  *Table
	limit  uint64

	dead, left int
}

// run inserts one fresh key a round. Between rounds, with all at rest, it checks what they left.
func (d *duel) run(t *testing.T, rounds int) {
	random := rand.New(rand.NewPCG(13, 14))
	start, end := barrier{parties: 2}, barrier{parties: 2}
	var key, now, admitted atomic.Uint64
	strike := func(lag tallyring.Tick) {
		for range d.limit {
			if d.table.Allow(key.Load(), tallyring.Tick(now.Load())-lag, 1, d.limit) {
				admitted.Add(1)
			}
		}
	}
	var late sync.WaitGroup
	late.Go(func() {
		for turn := range int64(rounds) {
			start.meet(turn)
			strike(tallyring.Tick(d.window.Width))
			end.meet(turn)
		}
	})
	failed := ""
	for turn := range int64(rounds) {
		now.Store(uint64(ring(d.window)) * uint64(turn+2))
		key.Store(random.Uint64())
		admitted.Store(0)
		start.meet(turn)
		strike(0)
		end.meet(turn)
		if failed == "" {
			failed = d.inspect(key.Load(), admitted.Load())
		}
	}
	late.Wait()
	require.Empty(t, failed)
}

// inspect looks at the table at rest, and says what is wrong with the key just inserted.
func (d *duel) inspect(key, admitted uint64) string {
	c := d.table.look()
	fingerprint, _ := d.table.home(key)
	d.dead, d.left = d.dead+c.dead, d.left+len(c.pending[fingerprint])
	switch {
	case len(c.homes[fingerprint]) != 1:
		return "the key has not one settled cell"
	case len(c.duplicates()) > 0:
		return "a key has two settled cells"
	case admitted != d.limit:
		return "not exactly the limit was admitted"
	}
	return ""
}

// Goal: inserters of one key who claim different cells agree on one, and nothing is admitted twice.
// Method: duels of the table's own verbs, in a table of few cells which the fast clock sees
// expired, the slow one not yet. How often they clash is the machine's choice and is only logged;
// the test below makes them clash.
func TestInsertersOfOneKeyAgree(t *testing.T) {
	for _, procs := range []int{2, 4} {
		for _, f := range strictWindows() {
			t.Run(f.name, func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				d := &duel{window: f.window, table: newTable(t, f.window, 4), limit: 3}
				d.run(t, scaled(10_000))
				t.Logf("procs %d: seen at rest: %d dead cells, %d left pending", procs, d.dead,
					d.left)
			})
		}
	}
}

// A hesitant inserts as insert does, step by step, but lets others run between any two steps, and
// counts what became of its steps.
type hesitant struct {
	table  *Table
	random *rand.Rand

	claimed, again, beaten, resolved, gaveWay int
}

func (h *hesitant) hesitate() {
	for range h.random.IntN(4) {
		runtime.Gosched()
	}
}

// insert is Table.insert, hesitantly.
func (h *hesitant) insert(key, home uint64, now tallyring.Tick) bool {
	index := h.table.index(now)
	for {
		s := h.table.scan(key, home, index)
		h.hesitate()
		switch {
		case s.settled:
			return true
		case s.busy:
			pause()
		case s.pending:
			h.table.resolve(key, home, s.cell, s.state)
			if settled, held := h.table.read(s.cell); held == key && !pending(settled) {
				h.resolved++
			} else {
				h.gaveWay++
			}
		case !s.free:
			return false
		default:
			h.table.extend(home, s.freeDistance)
			claim := h.table.states.claim(s.freeState, index)
			if h.table.pair(s.freeCell).CompareAndSwap(s.freeKey, s.freeState, key, claim) {
				h.claimed++
				if claim<<(65-h.table.states.shift) != 0 {
					h.again++
				}
			} else {
				h.beaten++
			}
			h.hesitate()
		}
	}
}

// clash is what a test of hesitant inserters has seen.
type clash struct{ claimed, beaten, resolved, gaveWay, dead, again, left, full int }

// Goal: the protocol of insertion keeps its word where goroutines are stopped between any two
// steps. Method: hesitant inserters of three fresh keys, whose clocks differ by less than the
// window, in a table that is expired for the fast ones. At rest every key has one settled cell, and
// exactly its limit was admitted. Each kind of clash must have been seen.
func TestHesitantInsertersOfAKeyAgree(t *testing.T) {
	var all clash
	for _, procs := range []int{1, 2, 4} {
		for _, f := range strictWindows() {
			t.Run(f.name, func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				testHesitantInserters(t, f.window, scaled(4_000), &all)
			})
		}
	}
	t.Logf("%+v", all)
	assert.Positive(t, all.claimed)
	assert.Positive(t, all.beaten, "no claim was lost to another")
	assert.Positive(t, all.resolved)
	assert.Positive(t, all.gaveWay, "no inserter gave way to another")
	assert.Positive(t, all.dead, "no claim was ever killed")
	assert.Positive(t, all.again, "no killed cell was claimed again under one index")
}

func testHesitantInserters(t *testing.T, w tallyring.Window, rounds int, total *clash) {
	const goroutines, limit = 8, 5
	table := newTable(t, w, 6)
	random := rand.New(rand.NewPCG(15, 16))
	var sum sync.Mutex
	for round := range rounds {
		now := ring(w) * tallyring.Tick(round+2)
		keys := []uint64{random.Uint64(), random.Uint64(), random.Uint64()}
		admitted := make([]atomic.Int64, len(keys))
		full := make([]atomic.Int64, len(keys))
		var party sync.WaitGroup
		for g := range goroutines {
			seed := random.Uint64()
			party.Go(func() {
				h := hesitant{table: table, random: rand.New(rand.NewPCG(seed, 0))}
				for i := range keys {
					i = (i + g%2) % len(keys)
					tick := now - tallyring.Tick(h.random.Int64N(int64(w.Length())))
					key, home := table.home(keys[i])
					if !h.insert(key, home, tick) {
						full[i].Add(1)
						continue
					}
					for range 2 {
						if table.Allow(keys[i], tick, 1, limit) {
							admitted[i].Add(1)
						}
					}
				}
				sum.Lock()
				defer sum.Unlock()
				total.claimed, total.again = total.claimed+h.claimed, total.again+h.again
				total.beaten += h.beaten
				total.resolved, total.gaveWay = total.resolved+h.resolved, total.gaveWay+h.gaveWay
			})
		}
		party.Wait()
		c := table.look()
		require.Empty(t, c.duplicates())
		for i := range keys {
			fingerprint, _ := table.home(keys[i])
			require.Len(t, c.homes[fingerprint], 1, "settled cells of a key")
			require.Equal(t, int64(limit), admitted[i].Load())
			total.left += len(c.pending[fingerprint])
			total.full += int(full[i].Load())
		}
		total.dead += c.dead
	}
}
