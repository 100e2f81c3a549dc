//go:build (amd64 || arm64) && !purego && !race

package tallyring

// compareAndSwapPair is compareAndSwapTwin as one locked instruction (amd64) or one exclusive
// sequence with acquire and release (arm64).
//
//go:noescape
func compareAndSwapPair(p *Pair, oldKey, oldState, newKey, newState uint64) bool
