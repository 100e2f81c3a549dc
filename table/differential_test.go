package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// scaled returns the rounds of a long test. A build without the double-word instruction, which is
// also every race build, is many times slower.
func scaled(rounds int) int {
	if tallyring.PairLockFree() && !testing.Short() {
		return rounds
	}
	return max(rounds/10, 1)
}

// windows lists the windows of the differential tests: both kinds, every number of slots, widths
// that are a power of two and not, and widths so narrow that a ring of two slots is tagged.
func windows() []tallyring.Window {
	var all []tallyring.Window
	for _, slots := range []int{1, 2, 3, 7, 8, 61} {
		for _, width := range []time.Duration{
			time.Microsecond, 1 << 12, 99_991, time.Second, 1 << 30, time.Minute,
		} {
			all = append(all, tallyring.Window{Slots: slots, Width: width})
			if slots > 1 {
				all = append(all, tallyring.Window{Slots: slots, Width: width, Strict: true})
			}
		}
	}
	return all
}

// A crowd is a set of keys and the size of the table they share.
type crowd struct {
	name string
	keys []uint64
	fit  int
}

func crowds(random *rand.Rand) []crowd {
	few := []uint64{0, 1, 2, 3, math.MaxUint64, math.MaxUint64 - 1, 1 << 32, 1 << 63}
	many := make([]uint64, 1_500)
	for i := range many {
		many[i] = random.Uint64()
	}
	strangers := make([]uint64, 40)
	for i := range strangers {
		strangers[i] = random.Uint64() >> random.IntN(64)
	}
	return []crowd{
		{"few", few, 64},
		{"many", many, 1_500},
		{"tiny", strangers, 1 + random.IntN(5)},
	}
}

// Goal: every verb answers as one independent ring per key would, whatever the window, and a cell
// that another key has taken over is as good as new. Method: random scripts against the model, with
// every kind of tick, cost and limit; a table with room for all, and one so tiny that keys take
// each other's expired cells all the time.
func TestTableAnswersAsOneRingPerKey(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	reached := map[string]int{}
	for _, window := range windows() {
		for _, crowd := range crowds(random) {
			name := fmt.Sprintf("%d/%v/%v/%s",
				window.Slots, window.Width, window.Strict, crowd.name)
			t.Run(name, func(t *testing.T) {
				for _, maxLimit := range []uint64{0, 200, 1 << 25} {
					config := Config{Window: window, MaxLimit: maxLimit, Keys: crowd.fit}
					if _, err := New(config); err != nil && maxLimit == 1<<25 {
						continue // no form is that large at this width: the smaller ones are tried
					}
					start := random.Int64N(250*year) * int64(random.IntN(2))
					s := newScript(t, config, crowd.keys, start,
						&randomChooser{random, scaled(3_000)})
					s.run()
					s.tally(reached, crowd.name)
				}
			})
		}
	}
	for _, what := range []string{
		"tiny/taken over", "tiny/expired", "few/late", "few/expired", "tiny/late", "few/saturated",
		"many/late", "tiny/refunded", "few/refunded", "few/denied", "few/allowed",
	} {
		assert.Greater(t, reached[what], 1000/(11-scaled(10)), "the scripts must reach: %s", what)
	}
	t.Log(reached)
}

// tally adds what a script has reached.
func (s *script) tally(reached map[string]int, name string) {
	reached[name+"/taken over"] += int(s.table.Stats(tallyring.Tick(s.latest)).TakenOver)
	reached[name+"/expired"] += s.expired
	reached[name+"/late"] += s.late
	reached[name+"/saturated"] += s.saturated
	reached[name+"/refunded"] += s.refunded
	reached[name+"/denied"] += s.denied
	reached[name+"/allowed"] += s.allowed
}

// Goal: where the stored index wraps to 0 no answer changes. Method: the same scripts, started a
// few buckets before a wrap, for every number of index bits that a layout may have.
func TestTableAnswersTheSameWhereIndexesWrap(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	takenOver := uint64(0)
	for _, slots := range []int{1, 2, 3, 7} {
		for _, width := range []time.Duration{time.Millisecond, time.Second, time.Minute} {
			for bits := 10; bits < 52; bits++ {
				if int64(1)<<bits > (math.MaxInt64-11*year)/int64(width) {
					break
				}
				window := tallyring.Window{Slots: slots, Width: width, Strict: slots == 3}
				start := max((int64(1)<<bits-3)*int64(width), 0)
				for _, crowd := range crowds(random)[1:] {
					config := Config{Window: window, Keys: crowd.fit}
					s := newScript(t, config, crowd.keys[:40], start,
						&randomChooser{random, scaled(1_000)})
					s.wraps = true
					s.run()
					takenOver += s.table.Stats(tallyring.Tick(s.latest)).TakenOver
				}
			}
		}
	}
	require.Positive(t, takenOver)
}

// FuzzTable plays the operations that a fuzzer's bytes choose.
// Goal: no sequence of operations makes a table differ from its model.
func FuzzTable(f *testing.F) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 12 {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	all := windows()
	f.Fuzz(func(t *testing.T, data []byte) {
		choose := &byteChooser{data}
		window := all[choose.below(len(all))]
		crowd := crowds(rand.New(rand.NewPCG(1, 1)))[choose.below(3)]
		maxLimit := []uint64{0, 5, 200}[choose.below(3)]
		start := []int64{0, 3, 7 * year, 200 * year}[choose.below(4)]
		newScript(t, Config{Window: window, MaxLimit: maxLimit, Keys: crowd.fit}, crowd.keys, start,
			choose).run()
	})
}
