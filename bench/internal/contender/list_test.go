package contender

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// calm is a time between events that keeps any limit of Plenty from being spent.
const calm = tallyring.Tick(Span) / tallyring.Tick(Plenty/4)

// Goal: every contender without keys allows what is under its limit, and denies all once it is
// spent: it does the work that it is timed for. Those that never deny say so.
func TestSinglesDecide(t *testing.T) {
	makers := append(Singles(), Ring(1), Ring(2), Ring(7), Spread())
	for _, maker := range makers {
		t.Run(maker.Name, func(t *testing.T) {
			single, err := maker.Make(Plenty)
			require.NoError(t, err)
			assert.Equal(t, 5000, single.Decide(Events{Start, calm, 5000}))
			require.NoError(t, Close(single))
			if maker.Polite {
				return
			}
			single, err = maker.Make(Few)
			require.NoError(t, err)
			allowed := single.Decide(Events{Start, 0, 3 * int(Few)})
			assert.Equal(t, int(Few), allowed)
			assert.Zero(t, single.Decide(Events{Start, 0, 50}))
			require.NoError(t, Close(single))
		})
	}
}

// Goal: every kind of window allows what is under its limit and denies once that is spent, and its
// copies are windows that count, so that their memory is that of windows in use. Method: as above,
// at the limit of each; the copies are counted.
func TestWindowsDecide(t *testing.T) {
	seen := map[string]bool{}
	for _, maker := range Windows() {
		t.Run(maker.Name, func(t *testing.T) {
			assert.False(t, seen[maker.Name], "two of this name")
			seen[maker.Name] = true
			single, err := maker.Make(maker.Limit)
			require.NoError(t, err)
			limit := int(maker.Limit)
			allowed := single.Decide(Events{Start, 0, 3 * limit})
			assert.LessOrEqual(t, allowed, limit)
			assert.GreaterOrEqual(t, allowed, limit*4/5, "an error of 0.1 denies from 1/1.2 on")
			assert.Zero(t, single.Decide(Events{Start, 0, 50}))
			later := Start + 3*tallyring.Tick(Span)
			assert.Equal(t, 20, single.Decide(Events{later, 0, 20}), "as good as new")
			kept, err := maker.Copies(3)
			require.NoError(t, err)
			assert.Equal(t, 3, reflect.ValueOf(kept).Len())
			assert.Positive(t, maker.Enough)
		})
	}
}

// Goal: copies that do not count what they are made for are an error.
func TestCopiesCount(t *testing.T) {
	create := func() (*int, error) { return new(int), nil }
	_, err := copies(2, create, func(*int) bool { return false })
	assert.EqualError(t, err, "copy 0 denies what it should hold")
	_, err = copies(2, func() (*int, error) { return nil, errors.New("no memory") },
		func(*int) bool { return true })
	assert.EqualError(t, err, "no memory")
}

// Goal: every keyed contender holds each key to the limit, and no key to another's.
func TestKeyedsDecide(t *testing.T) {
	for _, maker := range Keyeds() {
		t.Run(maker.Name, func(t *testing.T) {
			keyed, err := maker.Make(10, Few)
			require.NoError(t, err)
			first, second := slices.Repeat([]string{"a"}, 250), slices.Repeat([]string{"b"}, 99)
			assert.Equal(t, int(Few), keyed.Decide(first, Start))
			assert.Equal(t, 99, keyed.Decide(second, Start))
			assert.Equal(t, 1, keyed.Decide([]string{"b", "a", "b"}, Start))
			require.NoError(t, Close(keyed))
		})
	}
}

// Goal: the same for hashes.
func TestHashedsDecide(t *testing.T) {
	const a, b = 0x9e3779b97f4a7c15, 0x12345
	for _, maker := range append(Hasheds(), WindowKeys()...) {
		t.Run(maker.Name, func(t *testing.T) {
			hashed, err := maker.Make(10, Few)
			require.NoError(t, err)
			assert.Equal(t, int(Few), hashed.Decide(slices.Repeat([]limiter.Key{a}, 600), Start))
			assert.Equal(t, 99, hashed.Decide(slices.Repeat([]limiter.Key{b}, 99), Start))
			assert.Equal(t, 1, hashed.Decide([]limiter.Key{b, a, b}, Start))
		})
	}
}

// Goal: the versions that stand beside the figures are those that were measured. Method: go.mod.
func TestModulesAreThoseOfGoMod(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	seen := 0
	check := func(info Info) {
		if info.Module == "" {
			return
		}
		seen++
		wanted := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(info.Module) + `$`)
		assert.Regexp(t, wanted, string(text), info.Name)
	}
	for _, maker := range Singles() {
		check(maker.Info)
	}
	for _, maker := range Keyeds() {
		check(maker.Info)
	}
	assert.GreaterOrEqual(t, seen, 10)
}

// Goal: names can stand in benchmark names, and are told apart.
func TestNamesFitBenchmarks(t *testing.T) {
	seen := map[string]bool{}
	for _, maker := range Keyeds() {
		assert.False(t, strings.ContainsAny(maker.Name, " /=\t"), maker.Name)
		assert.False(t, seen[maker.Name], maker.Name)
		seen[maker.Name] = true
	}
}
