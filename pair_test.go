package tallyring

import (
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// swap is one implementation of the double-word compare-and-swap.
type swap struct {
	name string
	do   func(p *Pair, oldKey, oldState, newKey, newState uint64) bool
	busy bool // whether others may see PairBusy meanwhile
}

// swaps lists what every test of a Pair runs against. Where the build selects no assembly both are
// the twin, and the first is then compared with plain Go alone.
func swaps() []swap {
	return []swap{
		{"selected", (*Pair).CompareAndSwap, !PairLockFree()},
		{"twin", (*Pair).compareAndSwapTwin, true},
	}
}

// Goal: a build that should run the assembly does. CI sets the variable on amd64, and on arm64
// under emulation.
func TestAssemblyIsSelectedWhereRequired(t *testing.T) {
	if os.Getenv("TALLYRING_REQUIRE_ASM") == "" {
		t.Skipf("TALLYRING_REQUIRE_ASM is not set; pairs are lock-free here: %v", PairLockFree())
	}
	require.Contains(t, []string{"amd64", "arm64"}, runtime.GOARCH, "no assembly for this machine")
	require.True(t, PairLockFree(), "the twin was selected: build without purego and race")
}

// word returns a 64-bit value, often one where a carry or a sign could matter; never PairBusy.
func word(random *rand.Rand) uint64 {
	corners := []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, PairBusy - 1}
	if random.IntN(2) == 0 {
		return corners[random.IntN(len(corners))]
	}
	return random.Uint64N(PairBusy)
}

// Goal: assembly, twin and plain Go agree on the result and on every byte of the line.
// Method: random pairs at each place of a line; the expectation is right, or wrong in one bit of
// the key, in one of the state, in both, or anywhere.
func TestPairCompareAndSwapMatchesPlainGo(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, impl := range swaps() {
		t.Run(impl.name, func(t *testing.T) {
			pairs := Pairs(NewLines(1))
			model := make([]struct{ key, state uint64 }, len(pairs))
			succeeded, keyWrong, stateWrong, bothWrong := 0, 0, 0, 0
			for range 200_000 {
				i := random.IntN(len(pairs))
				model[i].key, model[i].state = word(random), word(random)
				pairs[i].Key.Store(model[i].key)
				pairs[i].State.Store(model[i].state)
				oldKey, oldState := model[i].key, model[i].state
				switch random.IntN(5) {
				case 0:
					oldKey ^= 1 << random.IntN(64)
				case 1:
					oldState ^= 1 << random.IntN(64)
				case 2:
					oldKey, oldState = oldKey^1<<random.IntN(64), oldState^1<<random.IntN(64)
				case 3:
					oldKey, oldState = word(random), word(random)
				}
				if oldState == PairBusy {
					continue
				}
				newKey, newState := word(random), word(random)

				want := oldKey == model[i].key && oldState == model[i].state
				switch {
				case want:
					succeeded++
					model[i].key, model[i].state = newKey, newState
				case oldState == model[i].state:
					keyWrong++
				case oldKey == model[i].key:
					stateWrong++
				default:
					bothWrong++
				}
				got := impl.do(&pairs[i], oldKey, oldState, newKey, newState)
				require.Equal(t, want, got)
				for j := range pairs {
					key, state := pairs[j].Key.Load(), pairs[j].State.Load()
					if key != model[j].key || state != model[j].state {
						t.Fatalf("pair %d is {%#x, %#x}, want %#x", j, key, state, model[j])
					}
				}
			}
			for _, count := range []int{succeeded, keyWrong, stateWrong, bothWrong} {
				assert.Greater(t, count, 10_000, "each kind of expectation was tried")
			}
		})
	}
}
