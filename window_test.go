package tallyring

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Goal: each way to be wrong has its own error, which names the value and what would be right.
// Method: one row per way, at its edge, with the whole text.
func TestWindowValidateNamesValueAndCure(t *testing.T) {
	const shape = "tallyring: strict window has 1 slot, want 2 or more: " +
		"a fixed window has no oldest bucket to count whole"
	const ten = "87672h0m0s"
	rows := []struct {
		name   string
		window Window
		want   string
	}{
		{"zero value", Window{}, "tallyring: window has 0 slots, want 1 to 65536"},
		{"no slots", Window{Slots: 0, Width: 1},
			"tallyring: window has 0 slots, want 1 to 65536"},
		{"negative slots", Window{Slots: -1, Width: 1},
			"tallyring: window has -1 slots, want 1 to 65536"},
		{"a slot too many", Window{Slots: MaxSlots + 1, Width: 1},
			"tallyring: window has 65537 slots, want 1 to 65536"},
		{"no width", Window{Slots: 1, Width: 0},
			"tallyring: window width is 0s, want more than 0"},
		{"negative width", Window{Slots: 2, Width: -time.Second},
			"tallyring: window width is -1s, want more than 0"},
		{"least width", Window{Slots: 2, Width: math.MinInt64},
			"tallyring: window width is -2562047h47m16.854775808s, want more than 0"},
		{"strict and fixed", Window{Slots: 1, Width: time.Second, Strict: true}, shape},
		{"fixed, 1 ns too long", Window{Slots: 1, Width: MaxLength + 1},
			"tallyring: window of 1 slots of width 87672h0m0.000000001s is longer than " + ten +
				", want fewer slots or a smaller width"},
		{"two slots, 1 ns too long", Window{Slots: 2, Width: MaxLength + 1},
			"tallyring: window of 2 slots of width 87672h0m0.000000001s is longer than " + ten +
				", want fewer slots or a smaller width"},
		{"length overflows 64 bits", Window{Slots: MaxSlots, Width: math.MaxInt64},
			"tallyring: window of 65536 slots of width 2562047h47m16.854775807s is longer than " +
				ten + ", want fewer slots or a smaller width"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			require.EqualError(t, row.window.Validate(), row.want)
		})
	}
}

// Goal: what is right passes, up to the last nanosecond of the longest window.
func TestWindowValidateAcceptsUpToMaxLength(t *testing.T) {
	windows := []Window{
		{Slots: 1, Width: 1},
		{Slots: 1, Width: MaxLength},
		{Slots: 2, Width: MaxLength},
		{Slots: 2, Width: MaxLength, Strict: true},
		{Slots: 3, Width: MaxLength / 2},
		{Slots: 61, Width: time.Second},
		{Slots: MaxSlots, Width: 1, Strict: true},
		{Slots: MaxSlots, Width: MaxLength / (MaxSlots - 1)},
	}
	for _, w := range windows {
		assert.NoError(t, w.Validate(), "%+v", w)
	}
}

// Goal: Validate and Length agree with the definition, and Length never overflows on a window that
// Validate accepts. Method: random windows about the edge, against integers without a size.
func TestWindowValidateAndLengthMatchBigIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	longest := big.NewInt(int64(MaxLength))
	accepted, refused := 0, 0
	for range 100_000 {
		slots := 1 + int(random.Uint64N(1<<random.IntN(17)))
		edge := int64(MaxLength) / int64(max(slots-1, 1))
		width := edge + random.Int64N(5) - 2
		if random.IntN(4) == 0 {
			width = random.Int64()
		}
		w := Window{Slots: slots, Width: time.Duration(width)}

		length := new(big.Int).Mul(big.NewInt(int64(max(slots-1, 1))), big.NewInt(width))
		right := width > 0 && length.Cmp(longest) <= 0
		require.Equal(t, right, w.Validate() == nil, "%+v", w)
		if !right {
			refused++
			continue
		}
		accepted++
		require.Equal(t, length.Int64(), int64(w.Length()), "%+v", w)
	}
	require.Greater(t, accepted, 10_000)
	require.Greater(t, refused, 10_000)
}

func TestWindowLength(t *testing.T) {
	rows := []struct {
		window Window
		want   time.Duration
	}{
		{Window{Slots: 1, Width: time.Minute}, time.Minute},
		{Window{Slots: 2, Width: time.Minute}, time.Minute},
		{Window{Slots: 3, Width: 30 * time.Second}, time.Minute},
		{Window{Slots: 61, Width: time.Second}, time.Minute},
		{Window{Slots: 61, Width: time.Second, Strict: true}, time.Minute},
		{Window{Slots: 2, Width: MaxLength}, MaxLength},
	}
	for _, row := range rows {
		assert.Equal(t, row.want, row.window.Length(), "%+v", row.window)
	}
}
