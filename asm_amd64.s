//go:build !purego && !race

#include "textflag.h"

// func compareAndSwapPair(p *Pair, oldKey, oldState, newKey, newState uint64) bool
//
// DI pair   DX:AX expected state:key   CX:BX new state:key
TEXT ·compareAndSwapPair(SB), NOSPLIT, $0-41
	MOVQ p+0(FP), DI
	MOVQ oldKey+8(FP), AX
	MOVQ oldState+16(FP), DX
	MOVQ newKey+24(FP), BX
	MOVQ newState+32(FP), CX
	LOCK
	CMPXCHG16B (DI)
	SETEQ ret+40(FP)
	RET
