//go:build !purego && !race

package tallyring

import "golang.org/x/sys/cpu"

// pairNative is false only on the first x86-64 processors, which lack CMPXCHG16B.
var pairNative = cpu.X86.HasCX16
