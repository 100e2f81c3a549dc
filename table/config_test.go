package table

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
)

// Goal: whatever New refuses it refuses with one line, which names the value and what to do
// instead.
func TestNewSaysWhatIsWrong(t *testing.T) {
	good := tallyring.Window{Slots: 2, Width: time.Minute}
	wide := tallyring.Window{Slots: 7, Width: time.Second}
	for _, c := range []struct {
		name   string
		config Config
		says   []string
	}{
		{"slots 0", Config{Window: tallyring.Window{Width: 1}, Keys: 1},
			[]string{"0 slots", "want 1"}},
		{"slots negative", Config{Window: tallyring.Window{Slots: -3, Width: 1}, Keys: 1},
			[]string{"-3 slots", "want 1"}},
		{"slots too many", Config{Window: tallyring.Window{Slots: 1 << 20, Width: 1}, Keys: 1},
			[]string{"1048576 slots", "65536"}},
		{"width 0", Config{Window: tallyring.Window{Slots: 2}, Keys: 1},
			[]string{"width is 0s", "more than 0"}},
		{"width negative", Config{Window: tallyring.Window{Slots: 2, Width: -time.Second}, Keys: 1},
			[]string{"width is -1s", "more than 0"}},
		{"width too narrow", Config{Window: tallyring.Window{Slots: 2, Width: 1}, Keys: 1},
			[]string{"width 1ns", "want a width of"}},
		{"window too long", Config{Window: tallyring.Window{Slots: 65536, Width: time.Hour * 24},
			Keys: 1}, []string{"65536 slots", "24h0m0s", "want fewer slots or a smaller width"}},
		{"strict with one slot", Config{Window: tallyring.Window{Slots: 1, Width: 1, Strict: true},
			Keys: 1}, []string{"1 slot", "want 2 or more"}},
		{"keys 0", Config{Window: good}, []string{"keys is 0", "want 1 to 4294967296"}},
		{"keys -1", Config{Window: good, Keys: -1}, []string{"keys is -1", "want 1 to"}},
		{"limit too high", Config{Window: wide, Keys: 1, MaxLimit: 1 << 60},
			[]string{"limit 1152921504606846976", "want a lower limit"}},
		{"limit too high, narrow", Config{Window: tallyring.Window{Slots: 2, Width: 1000}, Keys: 1,
			MaxLimit: 1 << 14}, []string{"limit 16384", "4094", "width 1µs", "larger width"}},
		{"limit just below unlimited", Config{Window: good, Keys: 1, MaxLimit: math.MaxUint64 - 1},
			[]string{"limit 18446744073709551614", "want a lower limit"}},
		{"policy", Config{Window: good, Keys: 1, WhenFull: 3},
			[]string{"policy is 3", "Deny, Allow or Overflow"}},
		{"policy", Config{Window: good, Keys: 1, WhenFull: 255},
			[]string{"policy is 255", "Deny, Allow or Overflow"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := New(c.config)
			require.Error(t, err)
			require.Nil(t, table)
			require.NotContains(t, err.Error(), "\n")
			for _, part := range c.says {
				require.Contains(t, err.Error(), part)
			}
			prefix, _, _ := strings.Cut(err.Error(), ": ")
			require.Contains(t, []string{"table", "tallyring", "atomicring"}, prefix)
		})
	}
}

// Goal: too many keys are refused, not run into. Method: the first number beyond the range, where
// an int can hold it, and on a 32-bit machine what the address space cannot hold.
func TestNewRefusesMoreKeysThanThereIsSpace(t *testing.T) {
	window := tallyring.Window{Slots: 2, Width: time.Minute}
	keys := math.MaxInt
	says := "want 1 to 4294967296"
	if math.MaxInt == math.MaxInt32 {
		says = "want fewer"
	}
	table, err := New(Config{Window: window, Keys: keys})
	require.ErrorContains(t, err, says)
	require.Nil(t, table)
}

// Goal: a limit that a cell must hold is held exactly, at each edge of each form: admitted up to
// it, and denied beyond. Method: the largest limit of the packed form, and the first beyond it.
func TestMaxLimitIsHeldExactly(t *testing.T) {
	for _, w := range []tallyring.Window{
		{Slots: 1, Width: time.Second}, {Slots: 2, Width: time.Second},
		{Slots: 2, Width: time.Minute, Strict: true}, {Slots: 7, Width: time.Second},
	} {
		easy := newTable(t, w, 10)
		limits := []uint64{1, 200, easy.MaxLimit() - 1, easy.MaxLimit()}
		if w.Slots == 2 {
			limits = append(limits, easy.MaxLimit()+1, 1<<25)
		}
		for _, limit := range limits {
			table, err := New(Config{Window: w, MaxLimit: limit, Keys: 10})
			require.NoError(t, err)
			require.GreaterOrEqual(t, table.MaxLimit(), limit)
			packed := w.Slots <= 2 && limit <= easy.MaxLimit()
			require.Equal(t, packed, table.groupCells > 1, "the form")
			require.True(t, table.Allow(5, 5, limit-1, limit))
			require.True(t, table.Allow(5, 5, 1, limit))
			require.False(t, table.Allow(5, 5, 1, limit))
			require.Equal(t, limit, table.Read(5, 5).High)
		}
		_, err := New(Config{Window: w, MaxLimit: tallyring.Unlimited, Keys: 10})
		require.NoError(t, err)
	}
}

// Goal: a limit above MaxLimit decides as MaxLimit, in every verb, and Take says so.
func TestALimitAboveMaxLimitDecidesAsMaxLimit(t *testing.T) {
	eachForm(t, func(t *testing.T, w tallyring.Window) {
		table := newTable(t, w, 10)
		most := table.MaxLimit()
		for i, limit := range []uint64{most, most + 1, most * 2, math.MaxUint64 - 1} {
			key := uint64(i) + 10
			d := table.Take(key, 5, most-1, limit)
			require.True(t, d.Allowed)
			require.Equal(t, most, d.Limit)
			require.Equal(t, uint64(1), d.Remaining)
			require.False(t, table.Allow(key, 5, 2, limit))
			require.True(t, table.Allow(key, 5, 1, limit))
			require.False(t, table.Allow(key, 5, 1, limit))
			require.Equal(t, tallyring.Never, table.Take(key, 5, most+1, limit).RetryAfter)
			require.False(t, table.Allow(key+100, 5, most+1, limit))
			require.True(t, table.Allow(key, 5, most+1, tallyring.Unlimited))
			require.False(t, table.Allow(key, 5, 0, limit), "a saturated count is over every limit")
			table.Refund(key, 5, most)
			require.Equal(t, most+1, table.Read(key, 5).High, "saturation stays")
		}
	})
}

// Goal: a table beyond what the machine can address is refused in words, not by a panic. Method:
// the most keys and the most slots that are each allowed, some 3.7 PB.
func TestNewRefusesMoreMemoryThanThereIs(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("the number of keys alone is more than an int can hold")
	}
	keys := uint64(MaxKeys)
	config := Config{
		Window: tallyring.Window{Slots: tallyring.MaxSlots, Width: time.Second}, Keys: int(keys),
	}
	require.NotPanics(t, func() {
		_, err := New(config)
		require.ErrorContains(t, err, "want fewer")
	})
}
