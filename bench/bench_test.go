package main

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring/bench/internal/workload"
)

// The workloads of the command as ordinary Go benchmarks, for benchstat, profiles and -cpu. Those
// that are no loop of events (Flood, Latency) are the command's alone, as are ten million keys.
var benchedSize = workload.Size{
	Keys: 1_000_000, Hashes: 1_000_000, Held: 200_000, Cells: 100_000,
}

func BenchmarkOneKey(b *testing.B)       { benchAll(b, "OneKey/") }
func BenchmarkWindows(b *testing.B)      { benchAll(b, "Windows/") }
func BenchmarkHot(b *testing.B)          { benchAll(b, "Hot") }
func BenchmarkKeys(b *testing.B)         { benchAll(b, "Keys/") }
func BenchmarkKeysParallel(b *testing.B) { benchAll(b, "KeysParallel/") }
func BenchmarkHashed(b *testing.B)       { benchAll(b, "Hashed/") }
func BenchmarkWindowKeys(b *testing.B)   { benchAll(b, "WindowKeys/") }
func BenchmarkPrefetch(b *testing.B)     { benchAll(b, "Prefetch/") }
func BenchmarkChurn(b *testing.B)        { benchAll(b, "Churn") }
func BenchmarkClock(b *testing.B)        { benchAll(b, "Clock") }
func BenchmarkFloor(b *testing.B)        { benchAll(b, "Floor") }

// benchAll runs the workloads whose names begin with prefix. A workload is made only where -bench
// selects it.
func benchAll(b *testing.B, prefix string) {
	found := false
	for _, source := range workload.Catalog(benchedSize) {
		rest, ok := strings.CutPrefix(source.Bench, prefix)
		if !ok {
			continue
		}
		found = true
		if rest == "" {
			benchOne(b, source)
			continue
		}
		b.Run(rest, func(b *testing.B) { benchOne(b, source) })
	}
	require.True(b, found, "no workload is named %s", prefix)
}

func benchOne(b *testing.B, source workload.Source) {
	w, err := source.Make()
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("TALLYRING_REQUIRE_DATA") == "" {
		b.Skip("the real traces are not in this repository: ", err)
	}
	require.NoError(b, err)
	for _, entry := range w.Entries {
		var trial *workload.Trial // made once, though the function is called with growing b.N
		first := 0
		b.Run("impl="+entry.Name, func(b *testing.B) {
			if trial == nil {
				made, err := entry.Make()
				require.NoError(b, err)
				trial = &made
			}
			workers := 1
			if len(w.Workers) > 0 {
				workers = runtime.GOMAXPROCS(0)
			}
			benchTrial(b, trial, first, workers)
			first += b.N
		})
		if trial != nil && trial.Close != nil {
			require.NoError(b, trial.Close())
		}
	}
}

// benchTrial does b.N events, spread over workers, and checks the answers.
func benchTrial(b *testing.B, trial *workload.Trial, first, workers int) {
	each := (b.N + workers - 1) / workers
	if trial.Before != nil {
		trial.Before(first, each)
	}
	counts := make([]int, workers)
	var end sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for worker := range workers {
		end.Go(func() { counts[worker] = trial.Run(worker, first, each) })
	}
	end.Wait()
	b.StopTimer()
	want := each
	if trial.Denies {
		want = 0
	}
	for worker, allowed := range counts {
		require.Equal(b, want, allowed, "events allowed of %d, worker %d", each, worker)
	}
}
