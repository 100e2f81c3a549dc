package held

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/atomicring"
	"github.com/tallyring/tallyring/table"
)

// switches returns how often a schedule leaves an actor at a point, at most: the number given, or
// one less in builds with the stand-in for the pair's swap, where there are more points and,
// under the race detector, a step takes ten times as long.
func switches(most int) int {
	if !tallyring.PairLockFree() || testing.Short() {
		most--
	}
	return most
}

// endings counts how the schedules of a scene ended.
type endings map[string]int

// check wants many schedules and more than one ending: else nobody was in anybody's way.
func (e endings) check(t *testing.T, schedules int) {
	t.Helper()
	t.Logf("%d schedules, which ended so: %v", schedules, e)
	require.Greater(t, schedules, 20)
	require.Greater(t, len(e), 1)
}

// ask is one actor of a scene on a ring.
type ask struct {
	verb   string
	bucket int
	count  uint64
}

// ringScene is what is asked of a ring that counts inNewest in bucket newest, and nothing else. As
// many events are left at first. Of those that are asked for, least to most are admitted.
type ringScene struct {
	left, least, most uint64
	asks              []ask
}

var ringScenes = []ringScene{
	{1, 1, 1, []ask{{"Allow", newest, 1}, {"Allow", newest + 1, 1}}},
	{2, 2, 2, []ask{{"Allow", newest, 1}, {"Allow", newest + 1, 1}, {"Allow", newest + 1, 1}}},
	{2, 2, 2, []ask{{"Allow", newest, 1}, {"Allow", newest, 1}, {"Allow", newest + 1, 1}}},
	// Adds are not asked for, and take the count over the limit where the event is first.
	{2, 0, 1, []ask{{"Allow", newest + 1, 1}, {"Add", newest, 2}}},
	{0, 0, 1, []ask{{"Allow", newest + 1, 1}, {"Refund", newest, 2}}},
	{1, 0, 1, []ask{{"Allow", newest + 1, 1}, {"Add", newest, 1}, {"Refund", newest, 1}}},
	{1, 1, 2, []ask{{"Allow", newest, 1}, {"Allow", newest + 1, 1}, {"Refund", newest, 1}}},
}

// TestEveryScheduleOfARing plays the schedules of a few events around a turn of the bucket, at the
// edge of the limit. As many are admitted as there is room for, and every count is kept: none is
// lost, none is made twice.
func TestEveryScheduleOfARing(t *testing.T) {
	for _, slots := range []int{2, 3} {
		for i, scene := range ringScenes {
			t.Run(fmt.Sprintf("slots=%d/scene=%d", slots, i), func(t *testing.T) {
				ended := endings{}
				s := newStage(t)
				most := switches(6 - len(scene.asks) - len(scene.asks)/3)
				ended.check(t, s.explore(most, func() func() {
					return scene.cast(s, slots, ended)
				}))
			})
		}
	}
}

// cast brings the actors of a scene and a new ring onto the stage.
func (scene ringScene) cast(s *stage, slots int, ended endings) (check func()) {
	r, err := atomicring.NewFor(tallyring.Window{Slots: slots, Width: width}, wide)
	require.NoError(s, err)
	require.True(s, r.Add(tick(newest), inNewest))
	said := make([]uint64, len(scene.asks))
	admitted, want := uint64(0), uint64(inNewest)
	for i, a := range scene.asks {
		s.actor(fmt.Sprint(a), func() {
			switch a.verb {
			case "Allow":
				said[i] = bit(r.Allow(tick(a.bucket), a.count, inNewest+scene.left))
				admitted += said[i]
				want += said[i] * a.count
			case "Add":
				require.True(s, r.Add(tick(a.bucket), a.count))
				want += a.count
			case "Refund":
				r.Refund(tick(a.bucket), a.count)
				want -= a.count
			}
		})
	}
	return func() {
		require.LessOrEqual(s, scene.least, admitted)
		require.LessOrEqual(s, admitted, scene.most)
		require.Equal(s, want, r.Read(tick(newest+1)).High)
		ended[fmt.Sprint(said, " ", r.Read(tick(newest+slots)).High)]++ // in newest+1 alone
	}
}

// caller is one actor of a scene on a table: which key, and whether its clock is in the bucket in
// which the first cell has expired.
type caller struct {
	key  int
	fast bool
}

// TestEveryScheduleOfATable plays the schedules of insertions of one key, by clocks in two buckets,
// over a cell that has expired for one of them, and beside another key. Each key gets exactly its
// limit, one less than is asked for, and so has one cell.
func TestEveryScheduleOfATable(t *testing.T) {
	for _, slots := range []int{2, 3} {
		for _, scene := range [][]caller{
			{{0, false}, {0, true}},
			{{0, false}, {0, false}, {0, true}},
			{{0, false}, {0, true}, {0, true}},
			{{0, false}, {0, true}, {1, false}},
			{{0, false}, {0, true}, {1, true}},
		} {
			t.Run(fmt.Sprintf("slots=%d/%v", slots, scene), func(t *testing.T) {
				k := newKeys(t, slots, 2)
				ended := endings{}
				ended.check(t, k.explore(switches(5-len(scene)), func() func() {
					return castTable(k, scene, ended)
				}))
			})
		}
	}
}

// castTable brings the actors of a scene and a new table onto the stage.
func castTable(k keys, scene []caller, ended endings) (check func()) {
	made, err := table.New(table.Config{
		Window: tallyring.Window{Slots: k.slots, Width: time.Second}, Keys: 2,
	})
	require.NoError(k, err)
	require.True(k, made.Allow(k.c, second(begun), 1, 9))
	asked, admitted := [2]uint64{}, [2]uint64{}
	for _, c := range scene {
		asked[c.key]++
	}
	said := make([]uint64, len(scene))
	for i, c := range scene {
		now := second(k.end) - tallyring.Tick(1-bit(c.fast))
		k.actor(fmt.Sprint(c), func() {
			said[i] = bit(made.Allow([]uint64{k.a, k.b}[c.key], now, 1, max(asked[c.key]-1, 1)))
			admitted[c.key] += said[i]
		})
	}
	return func() {
		stats := made.Stats(second(k.end))
		for key, count := range admitted {
			require.Equal(k, min(max(asked[key]-1, 1), asked[key]), count)
			require.Equal(k, count, made.Read([]uint64{k.a, k.b}[key], second(k.end)).High)
			stats.Live -= bit(count > 0)
		}
		require.LessOrEqual(k, stats.Live, bit(stats.TakenOver == 0), "%+v", stats)
		ended[fmt.Sprint(said, " dead or pending: ", stats.Pending)]++
	}
}

// TestEveryScheduleOfALimiter plays the schedules of goroutines that ask a limiter for more than it
// has left, from shards of their own, while the generation is ended or the bucket turns. Exactly
// what fits is admitted.
func TestEveryScheduleOfALimiter(t *testing.T) {
	const cost, left = 10, 45
	for name, others := range map[string]func(l limiter) func(){
		"alone": nil,
		"SetLimit": func(l limiter) func() {
			return func() { require.NoError(l, l.SetLimit(l.limit)) }
		},
		"Refund": func(l limiter) func() {
			return func() { l.Refund(second(begun), 5) } // after which as many fit
		},
	} {
		for _, turns := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s/turns=%d", name, turns), func(t *testing.T) {
				fourProcessors(t)
				s, ended := newStage(t), endings{}
				ended.check(t, s.explore(switches(2), func() func() {
					l := openLimiter(s, 3, func(uint64) uint64 { return left })
					var said [2]uint64
					for seat := range said {
						s.seated(seat, fmt.Sprint("seat ", seat), func() {
							for range 3 - seat {
								said[seat] += bit(l.Allow(second(begun+seat*turns), cost))
							}
						})
					}
					if others != nil {
						s.actor(name, others(l))
					}
					return func() {
						count := said[0] + said[1]
						require.GreaterOrEqual(t, count, uint64(4))
						require.LessOrEqual(t, count, 4+bit(name == "Refund"))
						back := 5 * bit(name == "Refund")
						require.Equal(t, 100+count*cost-back, l.Read(second(begun+1)).High)
						ended[fmt.Sprint(said)]++
					}
				}))
			})
		}
	}
}
