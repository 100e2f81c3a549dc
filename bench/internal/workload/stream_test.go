package workload

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// requireTrace ends the test where a trace is absent: with a failure where data is demanded.
func requireTrace(t *testing.T, err error) {
	t.Helper()
	if os.IsNotExist(err) && os.Getenv("TALLYRING_REQUIRE_DATA") == "" {
		t.Skipf("a real key trace: %v", err)
	}
	require.NoError(t, err)
}

// recorder is a contender that writes down what it is asked.
type recorder struct {
	keys  []string
	ticks []tallyring.Tick
}

func (r *recorder) Decide(keys []string, now tallyring.Tick) int {
	r.keys = append(r.keys, keys...)
	r.ticks = append(r.ticks, now)
	return len(keys)
}

// Goal: uniform streams hold each key once, Zipf streams hold some far more often than others.
func TestStreamsAreDistributedAsTheySay(t *testing.T) {
	uniform := uniformKeys(1000)
	assert.Len(t, uniform.Distinct, 1000)
	assert.ElementsMatch(t, uniform.Keys, uniform.Distinct)
	assert.NotEqual(t, keyText(0), uniform.Keys[0], "not in order")

	zipf := zipfKeys(1000, 50_000)
	counts := map[string]int{}
	most := 0
	for _, key := range zipf.Keys {
		counts[key]++
		most = max(most, counts[key])
	}
	assert.Len(t, zipf.Keys, 50_000)
	assert.Greater(t, most, 3000, "the most frequent of 1000 keys has some 13 % of the events")
	assert.Less(t, most, 10_000)
}

// Goal: a run goes through the stream and around its end, in order, and its ticks never go back.
func TestRunGoesAround(t *testing.T) {
	s := uniformKeys(5000)
	r := &recorder{}
	require.Equal(t, 12_000, s.run(r, 100, 12_000))
	require.Len(t, r.keys, 12_000)
	for i, key := range r.keys {
		require.Equal(t, s.Keys[(100+i)%5000], key)
	}
	assert.IsNonDecreasing(t, r.ticks)
	assert.Greater(t, r.ticks[len(r.ticks)-1], r.ticks[0])
}

// Goal: the most frequent key spends no more than a quarter of Plenty in a window. Method: a stream
// of one key only, the worst that there is.
func TestPaceKeepsTheHottestKeyAllowed(t *testing.T) {
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = "a"
	}
	s := newStream(keys)
	perWindow := float64(contender.Span) / float64(s.pace) * chunk
	assert.LessOrEqual(t, perWindow, float64(contender.Plenty)/4*1.001)
	assert.Greater(t, perWindow, float64(contender.Plenty)/8)
}

// Goal: traces are read as what they are, and damaged ones are refused in words. Method: files
// written here, in the form that the real ones have.
func TestTracesAreRead(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "keys"), 0o755))
	t.Setenv("TALLYRING_DATA", folder)
	write := func(name string, content []byte) {
		file, err := os.Create(filepath.Join(folder, "keys", name))
		require.NoError(t, err)
		packed := gzip.NewWriter(file)
		_, err = packed.Write(content)
		require.NoError(t, err)
		require.NoError(t, packed.Close())
		require.NoError(t, file.Close())
	}
	write("good", []byte{0, 0, 0, 7, 0, 0, 1, 0, 0, 0, 0, 7})
	write("short", []byte{0, 0, 0, 7, 0})

	s, err := traceKeys("good")
	require.NoError(t, err)
	assert.Equal(t, []string{keyText(7), keyText(256), keyText(7)}, s.Keys)
	assert.Equal(t, []string{keyText(7), keyText(256)}, s.Distinct)
	_, err = traceKeys("short")
	assert.EqualError(t, err, "short: 5 bytes, want a multiple of 4")
	_, err = traceKeys("absent")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Goal: hashes differ from each other.
func TestHashesDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for _, hash := range randomHashes(100_000) {
		require.False(t, seen[hash])
		seen[hash] = true
	}
}
