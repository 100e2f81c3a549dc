package workload

import (
	"runtime"

	"github.com/tallyring/tallyring/bench/internal/contender"
)

// Size says how large the workloads are.
type Size struct {
	Keys   int // of keys given as text
	Hashes int // of keys that are hashes
	Held   int // of keys that each kind of window is held for, and of its copies at most
	Cells  int // cells of tables through which new keys run

	// FloodRounds and FloodEvents are how often and how long a flood is watched.
	FloodRounds, FloodEvents int
}

// Full is the size whose figures are worth publishing, and Quick the one for a look.
var (
	Full  = Size{1_000_000, 10_000_000, 1_000_000, 100_000, 9, 20_000}
	Quick = Size{200_000, 1_000_000, 200_000, 20_000, 3, 10_000}
)

// Source makes a workload, whose streams are made no earlier than they are wanted. An error of Make
// says why it cannot be measured here.
type Source struct {
	Bench string
	Make  func() (Workload, error)
}

// Catalog returns all workloads, in the order in which they are best read.
func Catalog(size Size) []Source {
	list := []Source{
		{"OneKey/workload=allowed", oneKeyAllowed},
		{"OneKey/workload=denied", oneKeyDenied},
		{"OneKey/workload=seven", oneKeySeven},
		{windowsAllowedBench, func() (Workload, error) { return windowsAllowed(size.Held), nil }},
		{windowsDeniedBench, windowsDenied},
		{"Hot", hot},
		keysSource(1000),
		keysSource(size.Keys),
		spreadSource(1000),
		{"Keys/stream=zipf", func() (Workload, error) { return zipf(size.Keys) }},
	}
	for _, trace := range traces {
		list = append(list, Source{"Keys/stream=" + trace.name, func() (Workload, error) {
			return traced(trace)
		}})
	}
	return append(list,
		hashedSource(size.Hashes),
		windowKeysSource(size.Held),
		prefetchSource(size.Hashes),
		Source{"Churn", func() (Workload, error) { return churn(size.Cells), nil }},
		floodSource(size),
		latencySource(size),
		Source{"Clock", clocks},
		floorsSource(size.Hashes),
	)
}

// traces are the real key traces, by the name of their file.
var traces = []struct{ name, file, about string }{
	{"web07", "cache2k-web07.be32.gz",
		"Product pages asked of a web shop: 76,118 events of 20,484 keys, in their real order."},
	{"orm-busy", "cache2k-orm-busy-1M.be32.gz",
		"Objects asked of a busy database layer: a million events of 44,178 keys, in their real " +
			"order."},
}

// processors returns 1, 2, 4 and so on up to the number of processors, and that number.
func processors() (counts []int) {
	most := runtime.NumCPU()
	for n := 1; n < most; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, most)
}

// floorInfo describes a floor.
func floorInfo(name, note string) contender.Info {
	return contender.Info{Name: name, Kind: contender.Floor, Note: note}
}
