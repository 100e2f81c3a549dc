//go:build !(amd64 || arm64) || purego || race

package tallyring

const pairNative = false

func compareAndSwapPair(p *Pair, oldKey, oldState, newKey, newState uint64) bool {
	return p.compareAndSwapTwin(oldKey, oldState, newKey, newState)
}
