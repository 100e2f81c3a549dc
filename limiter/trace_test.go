package limiter_test

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// dataFolder returns the folder of the data that is not part of the project: TALLYRING_DATA, or
// shared/data beside the folder that holds go.work. The test is skipped where it is absent, or
// fails under TALLYRING_REQUIRE_DATA=1.
func dataFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("TALLYRING_DATA")
	if folder == "" {
		root, err := filepath.Abs(".")
		require.NoError(t, err)
		for !exists(filepath.Join(root, "go.work")) && root != filepath.Dir(root) {
			root = filepath.Dir(root)
		}
		folder = filepath.Join(root, "..", "shared", "data")
	}
	if !exists(folder) {
		require.NotEqual(t, "1", os.Getenv("TALLYRING_REQUIRE_DATA"), "no data at %s", folder)
		t.Skipf("no data at %s: set TALLYRING_DATA", folder)
	}
	return folder
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// trace reads a file of big-endian 32-bit keys.
func trace(t *testing.T, path string) []uint32 {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	data, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	require.Zero(t, len(data)%4)
	keys := make([]uint32, len(data)/4)
	for i := range keys {
		keys[i] = binary.BigEndian.Uint32(data[4*i:])
	}
	return keys
}

// TestRealKeysAgainstTheModel replays real traces of keys, an event each 50 ms, so that a window
// sees 1200 of them, and compares every decision with the model. No trailing window of any key
// holds more than the limit where the window is strict or a log, or more than twice the limit
// elsewhere.
func TestRealKeysAgainstTheModel(t *testing.T) {
	folder := dataFolder(t)
	files := map[string]struct{ events, distinct int }{
		"cache2k-web07.be32.gz":       {76_118, 20_484},
		"cache2k-orm-busy-1M.be32.gz": {1_000_000, 44_178},
	}
	for name, want := range files {
		keys := trace(t, filepath.Join(folder, "keys", name))
		require.Len(t, keys, want.events)
		distinct := map[uint32]bool{}
		for _, key := range keys {
			distinct[key] = true
		}
		require.Len(t, distinct, want.distinct)
		if hurried() {
			keys = keys[:min(len(keys), 100_000)]
		}
		for _, k := range []kind{kinds[1], kinds[2], kinds[4], kinds[5], kinds[6]} {
			t.Run(name+"/"+k.name, func(t *testing.T) {
				t.Parallel()
				replay(t, k, keys, len(distinct))
			})
		}
	}
}

// replay plays one trace through one limiter and through the model.
func replay(t *testing.T, k kind, keys []uint32, distinct int) {
	const limit, step = 5, tallyring.Tick(50 * time.Millisecond)
	l, m := k.build(t, limit, limiter.WithKeys(distinct)), newModel(k, limit)
	ticks := map[uint32][]tallyring.Tick{}
	var denied, worst int
	var text [4]byte
	now := start
	for _, key := range keys {
		now += step
		binary.BigEndian.PutUint32(text[:], key)
		got, want := l.AllowKey(l.KeyBytes(text[:]), now, 1), m.allow(string(text[:]), now, 1)
		if got != want {
			require.Equal(t, want, got, "key %d at %d", key, now)
		}
		if !got {
			denied++
			continue
		}
		ticks[key] = append(ticks[key], now)
	}
	for key := range ticks {
		worst = max(worst, worstTrailing(ticks[key], tallyring.Tick(window)))
	}
	bound := 2 * limit
	if k.strict || k.slots == 0 {
		bound = limit
	}
	require.LessOrEqual(t, worst, bound)
	require.GreaterOrEqual(t, worst, limit)
	require.Greater(t, denied, len(keys)/100, "hardly anything was denied: a weak replay")
	require.Zero(t, l.StatsAt(now).Refused, "every key fits")
	t.Logf("%d of %d denied, at most %d of %d in a trailing window",
		denied, len(keys), worst, limit)
}
