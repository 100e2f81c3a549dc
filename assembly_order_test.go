package tallyring

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// doubleWords are the instructions of each architecture that load or store two words as one, each
// with the function that may use it. Those without acquire or release are not among them.
var doubleWords = map[string]map[string]string{
	"asm_amd64.s": {"CMPXCHG16B": "compareAndSwapPair"},
	"asm_arm64.s": {"LDAXP": "compareAndSwapPair", "STLXP": "compareAndSwapPair"},
}

// doubleWord matches each instruction that touches two words as one, everything that opens or
// closes an exclusive access, whatever its order, and on arm64 what is written as a number.
var doubleWord = regexp.MustCompile(
	`^(CMPXCHG(8|16)B|CAS\w*|LD[A-Z]*X[PR]\w*|ST[A-Z]*X[PR]\w*|WORD)$`)

// wrongDoubleWords returns what is wrong with the double-word instructions of an assembly file.
func wrongDoubleWords(name, text string) (wrong []string) {
	function, seen := "", map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		code, _, _ := strings.Cut(line, "//")
		words := strings.Fields(strings.ReplaceAll(code, ";", " "))
		for _, word := range words {
			if strings.HasPrefix(word, "·") {
				function = strings.TrimPrefix(word[:strings.IndexByte(word, '(')], "·")
			}
			if !doubleWord.MatchString(word) {
				continue
			}
			seen[word] = true
			if may := doubleWords[name][word]; may == "" || may != function {
				wrong = append(wrong, fmt.Sprintf("%s:%d: %s in %s: want the ordered double-word "+
					"instructions, in the swap alone", name, i+1, word, function))
			}
		}
	}
	for word := range doubleWords[name] {
		if !seen[word] {
			wrong = append(wrong, name+": no "+word+": the swap of a pair needs it")
		}
	}
	return wrong
}

// Goal: the double-word swap orders what is around it, which emulation cannot show, and nothing
// but the swap uses a double-word instruction, which takes the line exclusively even where it only
// reads. Method: the instructions in the text of each assembly file.
func TestDoubleWordsAreOrderedAndSwappedOnly(t *testing.T) {
	for name := range doubleWords {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Empty(t, wrongDoubleWords(name, string(text)))
	}
}

// Goal: the check is able to refuse. Method: swaps that lack their order, and a load by the swap.
func TestWrongDoubleWordsAreNoticed(t *testing.T) {
	const swap = "TEXT ·compareAndSwapPair(SB), NOSPLIT, $0-41\n"
	const amd64, arm64 = "asm_amd64.s", "asm_arm64.s"
	for _, row := range []struct{ name, text, says string }{
		{arm64, swap + "\tLDAXP (R0), (R5, R6)\n\tSTLXP (R3, R4), (R0), R7\n", ""},
		{arm64, swap + "\tLDXP (R0), (R5, R6)\n\tSTLXP (R3, R4), (R0), R7\n", ":2: LDXP"},
		{arm64, swap + "\tLDAXP (R0), (R5, R6)\n\tSTXP (R3, R4), (R0), R7\n", ":3: STXP"},
		{arm64, swap + "\tCASPD (R0, R1), (R8), (R2, R3)\n", ":2: CASPD"},
		{arm64, swap + "\tWORD $0x48207c82 // CASPD\n", ":2: WORD"},
		{arm64, swap + "\tLDAXP (R0), (R5, R6)\n", "no STLXP"},
		{amd64, swap + "\tLOCK\n\tCMPXCHG16B (DI)\n", ""},
		{amd64, swap + "\tLOCK; CMPXCHG16B (DI)\nTEXT ·loadPair(SB), NOSPLIT, $0\n" +
			"\tLOCK; CMPXCHG16B (DI)\n", ":4: CMPXCHG16B in loadPair"},
		{amd64, swap + "\tRET // CMPXCHG16B\n", "no CMPXCHG16B"},
	} {
		wrong := strings.Join(wrongDoubleWords(row.name, row.text), "\n")
		if row.says == "" {
			assert.Empty(t, wrong, row.text)
		} else {
			assert.Contains(t, wrong, row.says, row.text)
		}
	}
}
