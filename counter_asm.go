//go:build (amd64 || arm64) && !purego && !race

package tallyring

// readCounter returns the processor's cycle counter, read after every load before it.
//
//go:noescape
func readCounter() uint64

// readCounterEarly returns the cycle counter as it was at most a few hundred cycles ago: the
// processor may read it before the loads that stand before it.
//
//go:noescape
func readCounterEarly() uint64
