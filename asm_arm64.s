//go:build !purego && !race

#include "textflag.h"

// func compareAndSwapPair(p *Pair, oldKey, oldState, newKey, newState uint64) bool
//
// R0 pair   R1 R2 expected key, state   R3 R4 new key, state   R5 R6 found   R7 exclusive status
//
// A mismatch stores back what was found: only a successful STLXP proves that the two words were
// read together. The loop ends when no other processor writes the line between the two
// instructions, which is the progress that the architecture promises for exclusives.
TEXT ·compareAndSwapPair(SB), NOSPLIT, $0-41
	MOVD p+0(FP), R0
	LDP  oldKey+8(FP), (R1, R2)
	LDP  newKey+24(FP), (R3, R4)

again:
	LDAXP (R0), (R5, R6)
	CMP   R1, R5
	BNE   mismatch
	CMP   R2, R6
	BNE   mismatch
	STLXP (R3, R4), (R0), R7
	CBNZ  R7, again
	MOVD  $1, R8
	MOVB  R8, ret+40(FP)
	RET

mismatch:
	STLXP (R5, R6), (R0), R7
	CBNZ  R7, again
	MOVB  ZR, ret+40(FP)
	RET

// func readCounter() uint64
//
// ISB keeps the read from being taken before what precedes it.
TEXT ·readCounter(SB), NOSPLIT, $0-8
	ISB $15
	MRS CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func readCounterEarly() uint64
TEXT ·readCounterEarly(SB), NOSPLIT, $0-8
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func prefetchLines(first *Line, indexes *uint64, count int)
//
// R0 first   R1 next index   R2 how many are left
TEXT ·prefetchLines(SB), NOSPLIT, $0-24
	MOVD first+0(FP), R0
	MOVD indexes+8(FP), R1
	MOVD count+16(FP), R2

next:
	MOVD.P 8(R1), R3
	ADD    R3<<6, R0, R4
	PRFM   (R4), PSTL1KEEP
	SUBS   $1, R2
	BNE    next
	RET
