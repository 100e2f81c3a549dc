package limiter_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring/limiter"
)

// TestAMillionKeysGetACellEach counts once on each of a million distinct texts and finds all of
// them live, none refused, each held to its own budget, in at most 24 bytes a key: by the
// limiter's own account, and by what the heap has grown. Under the race detector it is a tenth of
// that.
func TestAMillionKeysGetACellEach(t *testing.T) {
	if testing.Short() {
		t.Skip("a million keys take a second: run without -short")
	}
	keys := 1_000_000
	if hurried() {
		keys /= 10
	}
	for _, k := range []kind{kinds[0], kinds[1], kinds[4]} {
		t.Run(k.name, func(t *testing.T) {
			before := heapBytes()
			l := k.build(t, 2, limiter.WithKeys(keys))
			for i := range keys {
				if !l.AllowAt("client-"+strconv.Itoa(i), start, 2) {
					require.Fail(t, "a new key was denied", "key %d", i)
				}
			}
			perKey := float64(heapBytes()-before) / float64(keys)
			s := l.StatsAt(start)
			require.EqualValues(t, keys, s.Live)
			require.Zero(t, s.Refused+s.TakenOver)
			require.LessOrEqual(t, float64(s.Bytes)/float64(keys), 24.0)
			require.LessOrEqual(t, perKey, 24.0, "what the heap has grown")
			require.InDelta(t, float64(s.Bytes)/float64(keys), perKey, 0.5, "Bytes is the truth")
			for i := range keys {
				if l.AllowAt("client-"+strconv.Itoa(i), start, 1) {
					require.Fail(t, "a full key was admitted", "key %d", i)
				}
			}
			t.Logf("%.2f B a key by Stats, %.2f by the heap; farthest %d groups from home",
				float64(s.Bytes)/float64(keys), perKey, s.Farthest)
		})
	}
}

// heapBytes returns the bytes of live objects.
func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
