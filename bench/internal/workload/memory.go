package workload

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// memory is what the process holds, in bytes.
type memory struct{ heap, process uint64 }

// memoryNow collects garbage and returns what is left. Where the system does not say what the
// process holds, process is 0.
func memoryNow() memory {
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return memory{stats.HeapAlloc, residentBytes()}
}

// per returns what each of n keys added since before.
func (m memory) per(before memory, n int) (heap, process float64) {
	heap = max(float64(m.heap)-float64(before.heap), 0) / float64(n)
	process = max(float64(m.process)-float64(before.process), 0) / float64(n)
	return heap, process
}

// residentBytes returns how much physical memory the process has, or 0 where it cannot be read.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
