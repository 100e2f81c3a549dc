//go:build !purego && !race

package tallyring

// pairNative is true: every arm64 processor has LDAXP and STLXP.
const pairNative = true
