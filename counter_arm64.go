//go:build !purego && !race

package tallyring

// counterInvariant is true: the generic timer's virtual count runs at one rate, on all cores (Arm
// ARM, D12.1.2).
func counterInvariant() bool { return true }
