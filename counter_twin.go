//go:build !(amd64 || arm64) || purego || race

package tallyring

// counterInvariant is false: there is no counter to read.
func counterInvariant() bool { return false }

func readCounter() uint64 { return 0 }

func readCounterEarly() uint64 { return 0 }
