//go:build !purego && !race

package tallyring

// cpuid returns what the CPUID instruction says for leaf.
//
//go:noescape
func cpuid(leaf uint32) (a, b, c, d uint32)

// counterInvariant reports whether the time-stamp counter runs at one rate in every power state:
// bit 8 of EDX in leaf 8000_0007 (Intel SDM volume 3, 18.17.1; AMD APM volume 3, E.4.6). A virtual
// machine whose counter may not be trusted hides the bit.
func counterInvariant() bool {
	const extended, power, invariant = 0x8000_0000, 0x8000_0007, 1 << 8
	if largest, _, _, _ := cpuid(extended); largest < power {
		return false
	}
	_, _, _, d := cpuid(power)
	return d&invariant != 0
}
