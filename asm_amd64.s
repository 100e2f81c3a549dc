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

// func readCounterEarly() uint64
TEXT ·readCounterEarly(SB), NOSPLIT, $0-8
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

// func prefetchLines(first *Line, indexes *uint64, count int)
//
// DI first   SI next index   CX how many are left
//
// The bytes are PREFETCHW (AX), which the assembler does not know. Processors without it take the
// opcode as one that does nothing (Intel SDM volume 2, PREFETCHW; AMD APM volume 3, PREFETCHW).
TEXT ·prefetchLines(SB), NOSPLIT, $0-24
	MOVQ first+0(FP), DI
	MOVQ indexes+8(FP), SI
	MOVQ count+16(FP), CX

next:
	MOVQ (SI), AX
	SHLQ $6, AX
	ADDQ DI, AX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08
	ADDQ $8, SI
	DECQ CX
	JNZ  next
	RET
