package input

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// linesOf is the model: what stands between the ends of lines, without a last empty one.
func linesOf(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// unpacked is the model of a compressed input: the lines of what it holds, or nil if it is broken.
func unpacked(text string) []string {
	z, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		return nil
	}
	held, err := io.ReadAll(z)
	if err != nil {
		return nil
	}
	return linesOf(string(held))
}

// Goal: no input makes the reader panic; a plain one comes out line by line as it is, whatever the
// sizes of the reads; the same text compressed comes out the same, in one stream or in two; and
// what ends early is one line that names the input. Method: fuzzing, against a split at the ends of
// lines.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "\n", "a", "a\nb\r\n\nc", "\x1f\x8b", "\x1f\x8b\x08\x00",
		"\x28\xb5\x2f\xfd", "BZh", "BZ", "PK\x03\x04", "\xfd7zXZ\x00", "\ufeffa\n",
		strings.Repeat("x\n", 50)} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		plain := check(t, strings.NewReader(text))
		switch {
		case strings.HasPrefix(text, "\x1f\x8b"):
			require.Equal(t, unpacked(text), plain)
		case plain != nil:
			require.Equal(t, linesOf(text), plain)
		default:
			known := false
			for _, c := range compressed {
				known = known || strings.HasPrefix(text, c.magic)
			}
			require.True(t, known, "a plain input is not read")
		}
		require.Equal(t, plain, check(t, iotest.OneByteReader(strings.NewReader(text))))

		cut = min(max(cut, 0), len(text))
		whole := gzipped(t, text)
		two := append(gzipped(t, text[:cut]), gzipped(t, text[cut:])...)
		for _, data := range [][]byte{whole, two} {
			require.Equal(t, linesOf(text), check(t, bytes.NewReader(data)))
		}
		in, err := New("cut", bytes.NewReader(whole[:len(whole)-1-cut%8]))
		if err == nil {
			_, err = readAll(in)
		}
		require.ErrorContains(t, err, "cut is a ")
		require.NotContains(t, err.Error(), "\n")
	})
}

// check reads an input of any kind. It returns its lines, empty and not nil where there are none,
// or nil where it cannot be read.
func check(t *testing.T, r io.Reader) []string {
	t.Helper()
	in, err := New("input", r)
	var lines []string
	if err == nil {
		lines, err = readAll(in)
	}
	if err != nil {
		require.Contains(t, err.Error(), "input")
		require.NotContains(t, err.Error(), "\n")
		return nil
	}
	require.Equal(t, len(lines), in.Number())
	return append([]string{}, lines...)
}
