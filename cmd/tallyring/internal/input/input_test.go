package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// readAll returns the lines of an input and the error that ended it, nil for its end.
func readAll(in *File) (lines []string, err error) {
	for {
		line, err := in.Next()
		switch {
		case err == io.EOF:
			return lines, nil
		case err == ErrTooLong:
			lines = append(lines, "(too long)")
		case err != nil:
			return lines, err
		default:
			lines = append(lines, string(line))
		}
	}
}

// Goal: lines come out as they went in, plain or compressed, whatever the name and whatever the
// sizes of the reads. Method: empty lines, no last end, CRLF, a line of the buffer's size and
// around it, and two compressed files in one.
func TestLines(t *testing.T) {
	edge := strings.Repeat("x", bufferBytes)
	want := []string{"a", "", "b\r", edge[1:], edge, edge + "y", "last"}
	text := strings.Join(want, "\n")
	half := len(text) / 2
	for name, data := range map[string][]byte{
		"plain":    []byte(text),
		"gzip":     gzipped(t, text),
		"two gzip": append(gzipped(t, text[:half]), gzipped(t, text[half:])...),
	} {
		for _, r := range []io.Reader{
			bytes.NewReader(data), iotest.HalfReader(bytes.NewReader(data)),
		} {
			in, err := New(name, r)
			require.NoError(t, err)
			got, err := readAll(in)
			require.NoError(t, err)
			assert.Equal(t, want, got, name)
			assert.Equal(t, len(want), in.Number())
		}
	}
}

// Goal: a line beyond the bound is passed over and the rest is read. Method: lines of the longest
// length and one more, with and without an end.
func TestTooLongLine(t *testing.T) {
	most := strings.Repeat("x", MaxLine-1)
	in, err := New("x", strings.NewReader("a\n"+most+"\n"+most+"yy\nb\n"+most+"yyy"))
	require.NoError(t, err)
	got, err := readAll(in)
	require.NoError(t, err)
	require.Len(t, got, 5)
	assert.Equal(t, []string{"a", "(too long)", "b", "(too long)"},
		append(append([]string{}, got[0]), got[2:]...))
	assert.Len(t, got[1], MaxLine-1)
	assert.Equal(t, 5, in.Number())
}

// Goal: what cannot be read is one line that names the input. Method: each failure.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	whole := gzipped(t, strings.Repeat("0123456789 some line\n", 50_000))
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-5] ^= 1
	for path, want := range map[string]string{
		filepath.Join(dir, "none"):      "cannot open .*none: no such file or directory",
		dir:                             "is a directory, want a file",
		write("cut", whole[:1000]):      "cut is a truncated gzip file: it ends after [0-9]+ lines",
		write("head", whole[:4]):        "head is a truncated gzip file: it ends after 0 lines",
		write("sum", damaged):           "sum is a damaged gzip file: .* after 50000 lines",
		write("tail", append(whole, 7)): "tail is a truncated gzip file: it ends after 50000 lines",
		write("a.gz", []byte("\x28\xb5\x2f\xfd plus")): "compressed with zstd, want plain or gzip",
		write("b", []byte("BZh91AY")):                  "compressed with bzip2, want plain or gzip",
	} {
		in, err := Open(path, nil)
		if err == nil {
			_, err = readAll(in)
			require.NoError(t, in.Close())
		}
		require.Error(t, err, want)
		assert.Regexp(t, want, err.Error())
		assert.NotContains(t, err.Error(), "\n")
	}
	in, err := New("pipe", io.MultiReader(
		strings.NewReader("a\nbcdef"), iotest.ErrReader(errors.New("gone"))))
	require.NoError(t, err)
	got, err := readAll(in)
	assert.Equal(t, []string{"a"}, got)
	assert.EqualError(t, err, "cannot read pipe: gone after 1 lines")
}

// Goal: short inputs are inputs. Method: none, one byte, one end of line.
func TestShort(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "a": {"a"}, "\n": {""}} {
		in, err := Open("-", strings.NewReader(text))
		require.NoError(t, err)
		got, err := readAll(in)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		require.NoError(t, in.Close())
	}
}
