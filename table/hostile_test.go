package table

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// What an attacker can do who knows the seed: hashes of any choice. The seed keeps it from
// everybody else; see the tests of package limiter.

// inverse returns the number whose product with odd is 1 modulo 2^64. Each step of Newton's doubles
// the bits that are right, from the 3 that odd itself has.
func inverse(odd uint64) uint64 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

// atHome returns n different keys whose home is a group of the table.
func atHome(table *Table, group uint64, n int) []uint64 {
	first, rest := bits.Div64(group, 0, table.groups)
	if rest > 0 {
		first++
	}
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = (first + uint64(i)*64) * inverse(spread)
	}
	return keys
}

// inRange tells whether a cell lies in the probe range of a home.
func inRange(table *Table, cell, home uint64) bool {
	return (cell/table.groupCells+table.groups-home)%table.groups < table.bound
}

// freeIn returns how many cells of a home's probe range no live key has.
func freeIn(table *Table, home uint64, now tallyring.Tick) int {
	free := 0
	for cell := range table.cells() {
		state, key := table.read(cell)
		if inRange(table, cell, home) && table.reusable(key, state, table.index(now)) {
			free++
		}
	}
	return free
}

// eachPolicy runs a test once for every policy and form.
func eachPolicy(t *testing.T, test func(t *testing.T, policy Policy, w tallyring.Window)) {
	for policy, name := range []string{"deny", "allow", "overflow"} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, w tallyring.Window) { test(t, Policy(policy), w) })
		})
	}
}

// siege is a table in which bystanders count, and every cell that a key of one home may have is
// then taken. The range passes the end of the table, and begins at its start again.
type siege struct {
	t       *testing.T
	table   *Table
	model   *model
	home    uint64
	hostile []uint64 // all of one home; those from room on have no cell
	room    int
	others  []uint64
	now     tallyring.Tick
	flood   int // events of hostile keys so far
	passed  int // of those without a cell
}

const siegeLimit = 5

func newSiege(t *testing.T, w tallyring.Window, policy Policy) *siege {
	t.Helper()
	table, err := New(Config{Window: w, MaxLimit: 100, Keys: 1_500, WhenFull: policy})
	require.NoError(t, err)
	s := &siege{
		t: t, table: table, model: newModel(w, table.MaxLimit()), home: table.groups - 9,
		now: 1000*ring(w) + 5,
	}
	require.Greater(t, table.groups, 2*table.bound, "the rest of the table is out of reach")
	s.hostile = atHome(table, s.home, scaled(10_000))
	random := rand.New(rand.NewPCG(31, 32))
	for range 500 {
		s.others = append(s.others, random.Uint64())
	}
	s.others = append(s.others, atHome(table, s.home, len(s.hostile)+3)[len(s.hostile):]...)
	for i, key := range s.others {
		s.decide(key, uint64(i%siegeLimit)+1)
	}
	s.room = freeIn(table, s.home, s.now)
	require.Greater(t, s.room, int(table.bound*table.groupCells)/4)
	return s
}

// decide asks the table and the model about an event of a key that must have a cell.
func (s *siege) decide(key, cost uint64) {
	s.t.Helper()
	want := s.model.allow(key, s.now, cost, siegeLimit)
	d := s.table.Take(key, s.now, cost, siegeLimit)
	require.Equal(s.t, want, d.Allowed, "key %#x, cost %d", key, cost)
	require.Equal(s.t, s.model.remaining(key, s.now, siegeLimit), d.Remaining, "key %#x", key)
	require.Equal(s.t, s.model.weigh(key, s.now).high, s.table.Read(key, s.now).High)
}

// attack sends an event of the i-th hostile key, by each verb that counts in turn.
func (s *siege) attack(i int) {
	var allowed [1]bool
	switch key := s.hostile[i]; i % 3 {
	case 0:
		allowed[0] = s.table.Allow(key, s.now, 1, siegeLimit)
	case 1:
		allowed[0] = s.table.Take(key, s.now, 1, siegeLimit).Allowed
	case 2:
		s.table.AllowMany(s.hostile[i:i+1], s.now, 1, siegeLimit, allowed[:])
	}
	s.flood++
	if i < s.room {
		want := s.model.allow(s.hostile[i], s.now, 1, siegeLimit)
		require.Equal(s.t, want, allowed[0], "hostile key %d has a cell of its own", i)
	} else if allowed[0] {
		s.passed++
	}
}

// Goal: with the seed known, keys of one home take the cells within the bound and no more. Those
// with a cell are held to their budgets exactly, those without meet the policy and are counted, and
// the decisions on all other keys stay exact, of the same home and of others, known and new.
// Method: thousands of keys of one home against a crowd of bystanders, compared with the model.
func TestKeysOfOneHomeMeetThePolicy(t *testing.T) {
	eachPolicy(t, func(t *testing.T, policy Policy, w tallyring.Window) {
		s := newSiege(t, w, policy)
		before := s.table.Bytes()
		for i := range s.hostile {
			s.attack(i)
		}
		refused := len(s.hostile) - s.room
		want := map[Policy]int{Deny: 0, Allow: refused, Overflow: siegeLimit}[policy]
		require.Equal(t, want, s.passed, "of keys without a cell")
		stats := s.table.Stats(s.now)
		require.EqualValues(t, refused, stats.Refused)
		require.EqualValues(t, len(s.others)+s.room, stats.Live)
		require.Equal(t, s.table.bound-1, stats.Farthest)
		require.Equal(t, before, stats.Bytes)
		s.bystanders()

		for range siegeLimit + 1 {
			for i := range s.room {
				s.attack(i)
			}
		}
		require.EqualValues(t, refused, s.table.Stats(s.now).Refused)
		s.now += ring(w)
		require.True(t, s.table.Allow(s.hostile[s.room], s.now, 1, siegeLimit), "cells again")
	})
}

// bystanders holds keys that are no attacker's to the model: those that were there before, and new
// ones whose probe range has a cell, the last of which begins one group behind the attacked home.
func (s *siege) bystanders() {
	for i, key := range s.others {
		s.decide(key, uint64(i%3))
		s.decide(key, 1)
	}
	refused := s.table.Stats(s.now).Refused
	random := rand.New(rand.NewPCG(33, 34))
	key, fresh := atHome(s.table, (s.home+1)%s.table.groups, 1)[0], 0
	for tries := 0; fresh < 200; key = random.Uint64() {
		tries++
		require.Less(s.t, tries, 1_000, "most of the table is free")
		if _, home := s.table.home(key); freeIn(s.table, home, s.now) == 0 {
			require.NotZero(s.t, fresh, "beside the attacked home there is a cell")
			continue // in the besieged range
		}
		fresh++
		for range siegeLimit + 1 {
			s.decide(key, 1)
		}
	}
	require.Equal(s.t, refused, s.table.Stats(s.now).Refused)
}

// Goal: a decision on a key of a besieged home visits the groups within the bound and not one more,
// which is what bounds its time. Method: the key itself is laid into a cell by hand. In the last
// group within the bound each verb must find it, and in the first beyond it none may.
func TestTheProbeEndsAtTheBound(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		s := newSiege(t, w, Deny)
		for i := range s.hostile {
			s.attack(i)
		}
		key := s.hostile[len(s.hostile)-1]
		fingerprint, home := s.table.home(key)
		require.Equal(t, s.home, home)
		one := s.table.index(s.now)<<s.table.states.shift + 1
		if s.table.groupCells != 1 {
			one, _ = s.table.packed.Next(0, s.now, 1, siegeLimit)
		}
		for distance := s.table.bound - 1; distance <= s.table.bound; distance++ {
			// The cell becomes the key's, whoever had it.
			cell := (home + distance) % s.table.groups * s.table.groupCells
			pair := s.table.pair(cell)
			state, held := s.table.read(cell)
			require.True(t, pair.CompareAndSwap(held, state, fingerprint, one))
			found := distance < s.table.bound
			require.Equal(t, found, s.table.Read(key, s.now).High == 1, "%d groups away", distance)
			require.Equal(t, found, s.table.Allow(key, s.now, 1, siegeLimit))
			require.Equal(t, found, s.table.Take(key, s.now, 1, siegeLimit).Allowed)
			allowed := make([]bool, 1)
			s.table.AllowMany([]uint64{key}, s.now, 1, siegeLimit, allowed)
			require.Equal(t, found, allowed[0])
			s.table.Refund(key, s.now, 4)
			count := pair.State.Load() - one
			if found {
				require.EqualValues(t, -1, int64(count), "three more events, and four taken back")
			} else {
				require.Zero(t, count, "nothing touched it")
			}
			require.True(t, pair.CompareAndSwap(fingerprint, pair.State.Load(), held, state))
		}
	})
}

// region is a set of keys that an attacker may hope to be alike to the table.
type region struct {
	name string
	key  func(i uint64) uint64
}

// regions lists fingerprints that agree in all bits but few: the last ones, the first ones, some in
// between, and those around the two that are reserved and their stand-ins.
func regions() []region {
	const middle = 0x6a09e667f3bcc908
	return []region{
		{"last bits", func(i uint64) uint64 { return middle + i }},
		{"first bits", func(i uint64) uint64 { return middle&(1<<48-1) | i<<48 }},
		{"middle bits", func(i uint64) uint64 { return middle ^ i<<24 }},
		{"reserved", func(i uint64) uint64 { return 2 + i }},
		{"stand-ins", func(i uint64) uint64 { return standIn + 2 + i }},
		{"complements", func(i uint64) uint64 { return ^i }},
	}
}

// Goal: fingerprints of one region are as good keys as any: all of those asked for fit. Method: as
// many as the table is for, each with its own count, which must be all that it reads.
func TestKeysOfOneRegionFit(t *testing.T) {
	for _, r := range regions() {
		t.Run(r.name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, w tallyring.Window) {
				const keys = 3_000
				table := newTable(t, w, keys)
				for i := range uint64(keys) {
					require.True(t, table.Allow(r.key(i), 5, 1+i%7, 10), "key %d", i)
				}
				for i := range uint64(keys) {
					require.Equal(t, 1+i%7, table.Read(r.key(i), 5).High, "key %d", i)
				}
				require.EqualValues(t, keys, table.Stats(5).Live)
			})
		})
	}
}

// Goal: every verb stays exact among keys that collide, cells that expire and are taken over in one
// crowded range included. Method: the random scripts of the differential test, over keys of one
// home, and over regions of fingerprints.
func TestVerbsStayExactAmongHostileKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 36))
	reached := map[string]int{}
	play := func(t *testing.T, w tallyring.Window, name string, keys []uint64, fit int) {
		s := newScript(t, Config{Window: w, Keys: fit}, keys, 7*year,
			&randomChooser{random, scaled(4_000)})
		s.run()
		s.tally(reached, name)
	}
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		home := newTable(t, w, 400)
		play(t, w, "home", atHome(home, home.groups-2, 150), 400)
		// Few cells in all, so that they are taken over; they are within the bound of every home.
		tiny := newTable(t, w, 12)
		play(t, w, "tiny", atHome(tiny, 1, 60), 12)
		for _, r := range regions() {
			keys := make([]uint64, 60)
			for i := range keys {
				keys[i] = r.key(uint64(i))
			}
			play(t, w, "region", keys, 400)
		}
	})
	for _, what := range []string{"home/denied", "home/late", "home/expired", "region/denied",
		"tiny/taken over", "tiny/denied", "home/refunded"} {
		require.Greater(t, reached[what], 20, fmt.Sprint(what, ": the scripts must reach it"))
	}
}

// Goal: a siege allocates nothing, refused events included, so that memory under hostile keys is
// that of New.
func TestASiegeAllocatesNothing(t *testing.T) {
	eachPolicy(t, func(t *testing.T, policy Policy, w tallyring.Window) {
		s := newSiege(t, w, policy)
		i := 0
		require.Zero(t, testing.AllocsPerRun(len(s.hostile)-1, func() {
			key := s.hostile[i]
			s.table.Allow(key, s.now, 1, siegeLimit)
			s.table.Take(key, s.now, 1, siegeLimit)
			s.table.Refund(key, s.now, 1)
			s.table.Read(key, s.now)
			i++
		}))
		require.EqualValues(t, 2*(len(s.hostile)-s.room), s.table.Stats(s.now).Refused)
	})
}

// BenchmarkSiege sets what an attacker with the seed can make a decision cost beside one on a key
// at home: a key with the farthest cell, and one without, for which the whole range is searched.
func BenchmarkSiege(b *testing.B) {
	for _, f := range []form{forms()[1], forms()[5]} {
		table, err := New(Config{Window: f.window, MaxLimit: 100, Keys: 100_000})
		require.NoError(b, err)
		keys := atHome(table, 7, int(table.bound*table.groupCells)+1)
		for _, key := range keys {
			table.Allow(key, 5, 1, 10)
		}
		for _, row := range []struct {
			name string
			key  uint64
		}{
			{"home", keys[0]}, {"farthest", keys[len(keys)-2]}, {"refused", keys[len(keys)-1]},
		} {
			b.Run("impl="+f.name+"/key="+row.name, func(b *testing.B) {
				for range b.N {
					table.Allow(row.key, 5, 1, 1)
				}
			})
		}
	}
}
