//go:build (amd64 || arm64) && !purego && !race

package tallyring

// readCounter returns the processor's cycle counter, read after every load before it.
//
//go:noescape
func readCounter() uint64
