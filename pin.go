//go:build !purego && !tallyring_hold

package tallyring

import _ "unsafe" // for the linkname

// Pin keeps the calling goroutine on its P until Unpin, and returns that P's id. The caller runs a
// few instructions that neither block nor call anything, then unpins. Ids start at 0 and stay below
// GOMAXPROCS, which can grow at any time: an id beyond an array sized earlier is legal.
func Pin() int { return procPin() }

// Unpin ends what Pin began.
func Unpin() { procUnpin() }

// The runtime lists both names among those that other modules may link to.

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
