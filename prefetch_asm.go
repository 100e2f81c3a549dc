//go:build (amd64 || arm64) && !purego && !race

package tallyring

// prefetchLines prefetches for writing the line at 64 bytes times each index after first.
//
//go:noescape
func prefetchLines(first *Line, indexes *uint64, count int)
