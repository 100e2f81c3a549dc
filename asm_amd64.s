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

// func readCounter() uint64
//
// LFENCE waits for the loads before it, so that a reading that follows another goroutine's is not
// taken before it.
TEXT ·readCounter(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func cpuid(leaf uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	XORL CX, CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET
