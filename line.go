package tallyring

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"
)

const (
	// LineBytes is what one cache line holds on every machine that the engine is tuned for, and so
	// what one key's state may occupy to cost one miss.
	LineBytes = 64

	// LineWords is the number of 64-bit words in a line.
	LineWords = LineBytes / 8

	// PadBytes is the distance to keep between two words that different processors write. It is
	// two lines at least, because x86-64 and arm64 cores fetch lines in adjacent pairs.
	PadBytes = max(2*LineBytes, int(unsafe.Sizeof(cpu.CacheLinePad{})))

	// PairBytes is the size and the alignment of a Pair.
	PairBytes = 16

	// hugeBytes is the size of a huge page on x86-64 and of the usual one on arm64 with 4 KiB
	// pages. Memory smaller than this gains nothing from advice.
	hugeBytes = 2 << 20
)

// Line is one cache line of counters: 64 bytes, 64-byte aligned where it comes from NewLines, and
// free of pointers, so that the collector never looks inside.
type Line struct {
	Words [LineWords]atomic.Uint64
}

// Pair is a key and its state, side by side. The state alone changes by its own compare-and-swap;
// both change together only by CompareAndSwap. Pairs come from Pairs, which aligns them.
type Pair struct {
	Key   atomic.Uint64
	State atomic.Uint64
}

// Quad is the pairs of one line.
type Quad [LineBytes / PairBytes]Pair

var (
	_ [LineBytes]byte = [unsafe.Sizeof(Line{})]byte{}
	_ [LineBytes]byte = [unsafe.Sizeof(Quad{})]byte{}
	_ [PairBytes]byte = [unsafe.Sizeof(Pair{})]byte{}
	_ [0]byte         = [unsafe.Offsetof(Pair{}.Key)]byte{}
	_ [8]byte         = [unsafe.Offsetof(Pair{}.State)]byte{}
)

// NewLines returns n zeroed lines, 64-byte aligned, that are advised to huge pages where they fill
// one and the system has such advice.
func NewLines(n int) []Line {
	lines := make([]Line, n)
	if n == 0 {
		return lines
	}
	if uintptr(unsafe.Pointer(&lines[0]))%LineBytes != 0 {
		lines = alignLines(make([]Line, n+1))
	}
	if n*LineBytes >= hugeBytes {
		// Same as: the bytes of lines.
		// Safety: the slice covers exactly the n lines just allocated, which hold no pointers.
		adviseHuge(unsafe.Slice((*byte)(unsafe.Pointer(&lines[0])), n*LineBytes))
	}
	return lines
}

// alignLines returns the lines of spare but one, starting at a multiple of LineBytes. The allocator
// has aligned pointer-free lines at every length tried; this keeps the promise if it ever stops.
func alignLines(spare []Line) []Line {
	n := len(spare) - 1
	first := unsafe.Pointer(&spare[0])
	skip := -uintptr(first) % LineBytes
	// Same as: spare shifted by skip bytes.
	// Safety: skip < LineBytes, so skip + n*LineBytes <= len(spare)*LineBytes; no pointers inside.
	return unsafe.Slice((*Line)(unsafe.Add(first, skip)), n)
}

// Words returns the words of lines, in order.
func Words(lines []Line) []atomic.Uint64 {
	if len(lines) == 0 {
		return nil
	}
	// Same as: the concatenation of every line's Words.
	// Safety: a Line is LineWords words and nothing else, asserted above.
	return unsafe.Slice(&lines[0].Words[0], len(lines)*LineWords)
}

// Pairs returns the words of lines two by two, in order.
func Pairs(lines []Line) []Pair {
	if len(lines) == 0 {
		return nil
	}
	// Same as: word 2i and word 2i+1 as pair i.
	// Safety: a Pair is two words, asserted above; a line is 64-byte aligned, hence a pair 16-byte.
	return unsafe.Slice((*Pair)(unsafe.Pointer(&lines[0])), len(lines)*LineBytes/PairBytes)
}

// Quads returns the lines as pairs, line by line.
func Quads(lines []Line) []Quad {
	if len(lines) == 0 {
		return nil
	}
	// Same as: line i as quad i.
	// Safety: a Quad has the size of a Line and holds words alone, both asserted above.
	return unsafe.Slice((*Quad)(unsafe.Pointer(&lines[0])), len(lines))
}
