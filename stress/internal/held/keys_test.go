package held

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// begun is the bucket in which the scenes on tables begin, of one second each.
const begun = 1000

// second returns the first tick of a bucket of one second.
func second(bucket int) tallyring.Tick {
	return tallyring.Tick(bucket) * tallyring.Tick(
		time.Second)
}

// keys is a small table and a few keys with the same home, in whose probe order cells are numbered.
type keys struct {
	*stage
	*table.Table
	slots      int
	a, b, c, d uint64
	end        int // bucket in which nothing counts any more that was counted in begun
}

// newKeys returns an empty table, of four cells at least.
func newKeys(t testing.TB, slots, most int) keys {
	config := table.Config{Window: tallyring.Window{Slots: slots, Width: time.Second}, Keys: most}
	made, err := table.New(config)
	require.NoError(t, err)
	all := []uint64{2}
	for len(all) < 4 {
		all = append(all, beside(t, config, all...))
	}
	return keys{newStage(t), made, slots, all[0], all[1], all[2], all[3], begun + slots}
}

// beside returns a key that would come to lie behind the given ones, all of which have its home.
func beside(t testing.TB, config table.Config, others ...uint64) uint64 {
	for key := others[len(others)-1] + 1; key < 1_000_000; key++ {
		trial, err := table.New(config)
		require.NoError(t, err)
		for _, other := range append(others, key) {
			require.True(t, trial.Allow(other, second(begun), 1, 9))
		}
		// Where a home is a group of packed cells, it is the only one, and so everyone's.
		cells := uint64(1)
		if trial.Stats(second(begun)).Cells == 4 && config.Window.Slots <= 2 {
			cells = 4
		}
		if trial.Stats(second(begun)).Farthest == uint64(len(others))/cells {
			return key
		}
	}
	require.FailNow(t, "no key has the home of the others")
	return 0
}

// eachTable runs a test on a table of each form: packed cells of one slot and of two, tagged cells
// with sums and without.
func eachTable(t *testing.T, test func(k keys)) {
	for _, slots := range []int{1, 2, 3, 7} {
		t.Run(fmt.Sprintf("slots=%d", slots), func(t *testing.T) { test(newKeys(t, slots, 2)) })
	}
}

// has checks what a key counts at a tick, and that the rest of a limit of that and 2 more is
// admitted exactly.
func (k keys) has(key uint64, now tallyring.Tick, count uint64) {
	k.Helper()
	require.Equal(k, count, k.Read(key, now).High)
	k.run(func() { require.False(k, k.Allow(key, now, 3, count+2)) })
	for range 2 {
		k.run(func() { require.True(k, k.Allow(key, now, 1, count+2)) })
	}
	k.run(func() { require.False(k, k.Allow(key, now, 1, count+2)) })
	require.Equal(k, count+2, k.Read(key, now).High)
}

// look returns all that can be read of some keys from a bucket on, and how many cells there are of
// each kind.
func (k keys) look(bucket int, keys ...uint64) func() any {
	return func() any {
		stats := k.Stats(second(bucket))
		readings := []any{stats.Live, stats.Expired, stats.Pending}
		for _, key := range keys {
			for i := range k.slots + 1 {
				readings = append(readings, k.Read(key, second(bucket+i)))
			}
		}
		return readings
	}
}

// hitPoint is where a hit that counts in the newest bucket stands before its swap, in packed
// cells and in tagged ones.
func (k keys) hitPoint() tallyring.Point {
	if k.slots <= 2 {
		return tallyring.TableHit
	}
	return tallyring.RingCount
}

// theEnd stands for that of an operation in lists of the points to which it comes.
const theEnd = tallyring.Point(tallyring.Points)

// TestHitAgainstTakeover takes both orders of a hit in an expired cell and of the claim that takes
// it over, which have both loaded its state. If the hit is first, the claim fails. If the claim is
// first, the hit fails, and its key comes back in another cell.
func TestHitAgainstTakeover(t *testing.T) {
	for _, takes := range []bool{false, true} { // Take instead of Allow
		for _, p := range []tallyring.Point{ // how far the new key comes before the hit goes on
			tallyring.TableClaim, tallyring.TableResolve, tallyring.TableCommit, theEnd,
		} {
			eachTable(t, func(k keys) { k.hitAgainstTakeover(takes, p) })
		}
	}
}

func (k keys) hitAgainstTakeover(takes bool, p tallyring.Point) {
	require.True(k, k.Allow(k.a, second(begun), 1, 9))
	hit := k.actor("the hit", func() {
		if takes {
			require.True(k, k.Take(k.a, second(begun), 1, 9).Allowed)
		} else {
			require.True(k, k.Allow(k.a, second(begun), 1, 9))
		}
	}).to(k.hitPoint())
	taker := k.actor("the taker", func() {
		require.True(k, k.Allow(k.b, second(k.end), 1, 9))
	}).to(tallyring.TableClaim)
	switch p {
	case tallyring.TableClaim: // the hit is first
		hit.end()
		taker.to(tallyring.TableClaim)
		require.Equal(k, 2, taker.passed[tallyring.TableClaim], "the first claim must fail")
		taker.end()
		k.has(k.a, second(k.end), 0)
	case theEnd:
		taker.end()
		hit.end()
		k.has(k.a, second(k.end), 1)
	default:
		taker.to(p)
		hit.wakes(k.look(k.end, k.a, k.b))
		hit.end()
		taker.end()
		k.has(k.a, second(k.end), 1)
	}
	k.has(k.b, second(k.end), 1)
	require.Equal(k, uint64(1), k.Stats(second(k.end)).TakenOver)
}

// TestGlanceAgainstTakeover stops a denial or a reading of a key when it has loaded its cell's
// state, and before it looks at that again, and lets another key take the cell over and spend its
// limit there. What the first one finds is its own.
func TestGlanceAgainstTakeover(t *testing.T) {
	for _, p := range []tallyring.Point{tallyring.TableLooked, tallyring.TableConfirm} {
		for _, verb := range []string{"Allow", "Allow in the last bucket", "Take", "Read"} {
			eachTable(t, func(k keys) {
				stop, last := p, second(begun+k.slots-1)
				if p == tallyring.TableConfirm && k.slots <= 2 &&
					(verb == "Take" || verb == "Allow in the last bucket" && k.slots > 1) {
					stop = tallyring.TableHit // a packed cell is compared there, or swapped
				}
				require.True(k, k.Allow(k.a, second(begun), 5, 5))
				allowed, read := false, tallyring.Reading{}
				glance := k.actor(verb, func() {
					switch verb {
					case "Allow":
						allowed = k.Allow(k.a, second(begun), 1, 5)
					case "Allow in the last bucket":
						allowed = k.Allow(k.a, last, 1, 5)
					case "Take":
						d := k.Take(k.a, second(begun), 1, 5)
						allowed = d.Allowed
						require.Equal(k, second(k.end), d.At, "where the old count is gone")
					case "Read":
						read = k.Read(k.a, second(begun))
					}
				}).to(stop)
				for range 7 {
					k.run(func() { require.True(k, k.Allow(k.b, second(k.end), 1, 7)) })
				}
				glance.end()
				require.Equal(k, verb != "Read", allowed)
				require.Zero(k, read.High, "the key has no cell, or another one's count")
				k.has(k.a, second(k.end), bit(allowed))
				k.has(k.b, second(k.end), 7)
			})
		}
	}
}

// TestStateOfAnotherKey stops a decision when it has loaded the state of a cell that is another
// key's, and lets its own key take that cell over and spend its limit. The fingerprint is its own
// then, and the state is not: it must not be decided on.
func TestStateOfAnotherKey(t *testing.T) {
	eachTable(t, func(k keys) {
		require.True(k, k.Allow(k.a, second(begun), 1, 5))
		allowed := true
		decision := k.actor("the decision", func() {
			allowed = k.Allow(k.b, second(begun), 1, 5)
		}).to(tallyring.TableLooked)
		for range 5 {
			k.run(func() { require.True(k, k.Allow(k.b, second(k.end), 1, 5)) })
		}
		require.Equal(k, uint64(1), k.Stats(second(k.end)).TakenOver)
		decision.end()
		require.False(k, allowed)
		k.has(k.b, second(k.end), 5)
	})
}

// TestTwoKeysClaimOneCell lets two keys see the same free cell. The first claim wins; the other
// fails and finds the next cell.
func TestTwoKeysClaimOneCell(t *testing.T) {
	bothOrders(t, "one", "the other", func(t *testing.T, oneFirst bool) {
		for _, expired := range []bool{false, true} { // or never used
			eachTable(t, func(k keys) {
				if expired {
					require.True(k, k.Allow(k.c, second(begun), 1, 9))
				}
				var claims [2]*actor
				for i, key := range []uint64{k.a, k.b} {
					claims[i] = k.actor(fmt.Sprint("key ", key), func() {
						require.True(k, k.Allow(key, second(k.end), 1, 9))
					}).to(tallyring.TableClaim)
				}
				winner, loser := claims[0], claims[1]
				if !oneFirst {
					winner, loser = loser, winner
				}
				winner.end()
				loser.end()
				require.Equal(k, 2, loser.passed[tallyring.TableClaim])
				k.has(k.a, second(k.end), 1)
				k.has(k.b, second(k.end), 1)
			})
		}
	})
}
