package tallyring

import (
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// requireFresh fails unless lines are as many as wanted, aligned and zero.
func requireFresh(t *testing.T, lines []Line, want int) {
	t.Helper()
	require.Len(t, lines, want)
	if want == 0 {
		return
	}
	require.Zero(t, address(&lines[0])%LineBytes, "%d lines start off a line", want)
	for i := range lines {
		for j := range lines[i].Words {
			if word := lines[i].Words[j].Load(); word != 0 {
				t.Fatalf("word %d of line %d of %d is %#x, want 0", j, i, want, word)
			}
		}
	}
}

// Goal: every length that the allocator treats in its own way gives aligned, zeroed lines.
// Method: all small lengths, twice over memory that was dirtied and freed in between; then lengths
// about a huge page, where the advice is given.
func TestNewLinesAreAlignedAndZeroAtEveryLength(t *testing.T) {
	for round := range 2 {
		for n := range 1101 {
			lines := NewLines(n)
			requireFresh(t, lines, n)
			for i := range lines {
				lines[i].Words[i%LineWords].Store(^uint64(0))
			}
		}
		if round == 0 {
			runtime.GC()
		}
	}
	const huge = hugeBytes / LineBytes
	for _, n := range []int{huge - 1, huge, huge + 1, 3*huge - 7, 1 << 18} {
		requireFresh(t, NewLines(n), n)
	}
}

// Goal: should the allocator ever misalign lines, alignLines mends it within its memory.
// Method: spare lines that begin at each multiple of 8 bytes, with guards on both sides.
func TestAlignLinesMendsAnyStart(t *testing.T) {
	const guard = ^uint64(0)
	skips := map[uintptr]bool{}
	for _, n := range []int{1, 2, 9, 100} {
		for offset := range LineWords {
			words := make([]uint64, (n+3)*LineWords)
			for i := range words {
				words[i] = guard
			}
			// Same as: n+1 lines that begin at words[offset].
			// Safety: offset < LineWords, so they end before words does; no pointers inside.
			spare := unsafe.Slice((*Line)(unsafe.Pointer(&words[offset])), n+1)
			clear(words[offset : offset+(n+1)*LineWords])
			skips[address(&spare[0])%LineBytes] = true

			lines := alignLines(spare)

			requireFresh(t, lines, n)
			first, last := address(&lines[0]), address(&lines[n-1])
			require.GreaterOrEqual(t, first, address(&spare[0]))
			require.LessOrEqual(t, last, address(&spare[n]))
			for i := range lines {
				for j := range lines[i].Words {
					lines[i].Words[j].Store(1)
				}
			}
			for i, word := range words {
				if i < offset || i >= offset+(n+1)*LineWords {
					require.Equal(t, guard, word, "word %d outside of the spare lines", i)
				}
			}
		}
	}
	require.Len(t, skips, LineWords, "starts tried")
}

// Goal: Words and Pairs are views, not copies, and number the memory as they say.
func TestWordsAndPairsAliasTheLines(t *testing.T) {
	lines := NewLines(3)
	words, pairs := Words(lines), Pairs(lines)
	require.Len(t, words, 3*LineWords)
	require.Len(t, pairs, 3*LineBytes/PairBytes)
	for i := range lines {
		for j := range lines[i].Words {
			lines[i].Words[j].Store(uint64(100 + i*LineWords + j))
		}
	}
	for i := range words {
		require.Equal(t, uint64(100+i), words[i].Load())
	}
	for i := range pairs {
		require.Zero(t, address(&pairs[i])%PairBytes)
		require.Equal(t, uint64(100+2*i), pairs[i].Key.Load())
		require.Equal(t, uint64(100+2*i+1), pairs[i].State.Load())
	}
	words[9].Store(7)
	pairs[11].State.Store(8)
	require.Equal(t, uint64(7), lines[1].Words[1].Load())
	require.Equal(t, uint64(8), lines[2].Words[7].Load())

	assert.Empty(t, Words(nil))
	assert.Empty(t, Pairs(nil))
	assert.Empty(t, Words(NewLines(0)))
	assert.Empty(t, Pairs(NewLines(0)))
}

// Goal: advice is asked for whole pages inside the memory alone, and harms nothing, however the
// memory lies. Method: every kind of start and end about page borders, contents compared.
func TestAdviseHugeLeavesMemoryAlone(t *testing.T) {
	page := os.Getpagesize()
	memory := make([]byte, 6*page)
	for i := range memory {
		memory[i] = byte(i * 31)
	}
	cuts := []int{0, 1, 64, page - 1, page, page + 1, 2*page - 64, 2 * page, 3*page + 8, 5 * page}
	for _, from := range cuts {
		for _, to := range append(cuts, len(memory)) {
			if from < to {
				adviseHuge(memory[from:to])
			}
		}
	}
	for i := range memory {
		if memory[i] != byte(i*31) {
			t.Fatalf("byte %d changed to %d", i, memory[i])
		}
	}
}
