package slidinglog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring"
)

// scriptLengths are lengths that are and are not powers of two, the shortest and the longest.
var scriptLengths = []time.Duration{
	1, 2, 7, 1000, 1024, time.Second, time.Minute, time.Hour, tallyring.MaxLength,
}

// Goal: every answer of a log is that of the plain model, at any tick, cost and limit.
// Method: random scripts over each length, compared after every step, from ticks near 0 and near
// the last; then look that every kind of step was taken.
func TestLogAgreesWithModel(t *testing.T) {
	seen := map[string]int{}
	for _, length := range scriptLengths {
		for seed := range uint64(60) {
			log, err := New(length)
			require.NoError(t, err)
			runScript(t, log, length, seed, seen)
		}
	}
	requireAllSeen(t, seen)
}

// Goal: a key of a keyed log is a log.
// Method: as for the log, with two more keys that are driven in between and must not be felt.
func TestKeyAgreesWithModel(t *testing.T) {
	seen := map[string]int{}
	for _, length := range scriptLengths {
		for seed := range uint64(30) {
			keyed, err := NewKeyed(length, 3)
			require.NoError(t, err)
			keyed.Add(^seed, tallyring.Tick(length), 3)
			runScript(t, oneKey{keyed, seed}, length, seed, seen)
			keyed.Add(seed+1, tallyring.Tick(length), 3)
		}
	}
	requireAllSeen(t, seen)
}

func runScript(t *testing.T, s subject, length time.Duration, seed uint64, seen map[string]int) {
	random := rand.New(rand.NewPCG(seed, uint64(length)))
	run := newScript(s, length)
	if seed%4 == 3 {
		run.now = math.MaxInt64 - int64(random.Uint64N(uint64(length)*3+1))
	}
	var b [stepBytes]byte
	for i := range 400 {
		for j := range b {
			b[j] = byte(random.Uint32())
		}
		diff := run.step(b[:])
		require.Empty(t, diff, "length %v seed %d step %d", length, seed, i)
	}
	for what, n := range run.seen {
		seen[what] += n
	}
}

func requireAllSeen(t *testing.T, seen map[string]int) {
	for _, allowed := range []bool{false, true} {
		require.Greater(t, seen[fmt.Sprintf("add %v", allowed)], 100)
		for _, late := range []bool{false, true} {
			require.Greater(t, seen[fmt.Sprintf("allowed %v late %v", allowed, late)], 100)
		}
	}
	require.Greater(t, seen["refund"], 100)
	require.Greater(t, seen["retry"], 100)
}

// Goal: no list of operations, however odd, tells a log from the model.
// Method: the fuzzer writes the script.
func FuzzLogAgreesWithModel(f *testing.F) {
	f.Add(uint8(0), []byte("000000111111222222"))
	f.Add(uint8(5), []byte{0, 0, 1, 9, 6, 2, 8, 0, 7, 1, 6, 3, 11, 9, 7, 1, 6, 5, 0, 0, 7, 1, 6, 6})
	f.Fuzz(func(t *testing.T, which uint8, script []byte) {
		length := scriptLengths[int(which)%len(scriptLengths)]
		log, err := New(length)
		require.NoError(t, err)
		keyed, err := NewKeyed(length, 1)
		require.NoError(t, err)
		one, other := newScript(log, length), newScript(oneKey{keyed, 7}, length)
		for i := 0; i+stepBytes <= min(len(script), 300*stepBytes); i += stepBytes {
			require.Empty(t, one.step(script[i:i+stepBytes]))
			require.Empty(t, other.step(script[i:i+stepBytes]))
		}
	})
}
