// Package input opens what a command is given to read, and hands out its lines.
//
// A file is plain or gzip, told apart by its first bytes and not by its name. Lines may have any
// length: up to [MaxLine] bytes they are handed out, longer ones are passed over and reported, so
// that memory stays bounded. A line ends at \n or at the end of the input; \r before it is kept,
// for the reader of the line to trim.
package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MaxLine is the longest line that is handed out, in bytes.
const MaxLine = 16 << 20

// bufferBytes is the size of the read buffer: most lines fit many times.
const bufferBytes = 256 << 10

// compressed names the formats that are recognised and not read.
var compressed = []struct{ magic, name string }{
	{"\x28\xb5\x2f\xfd", "zstd"},
	{"BZh", "bzip2"},
	{"\xfd7zXZ\x00", "xz"},
	{"PK\x03\x04", "zip"},
}

// File is an open input. It is read by one goroutine.
type File struct {
	Name   string // for messages
	r      *bufio.Reader
	closer io.Closer
	number int    // of the line last handed out, from 1
	long   []byte // holds a line that does not fit the buffer
}

// Open opens a file by name; "-" is stdin.
func Open(name string, stdin io.Reader) (*File, error) {
	if name == "-" {
		return New("standard input", stdin)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, cannot("open", name, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, want a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cannot("open", name, err)
	}
	in, err := New(name, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	in.closer = f
	return in, nil
}

// New reads from r, which may be compressed. Closing the File does not close r.
func New(name string, r io.Reader) (*File, error) {
	in := &File{Name: name, r: bufio.NewReaderSize(r, bufferBytes)}
	head, err := in.r.Peek(6)
	if err != nil && err != io.EOF {
		return nil, cannot("read", name, err)
	}
	for _, c := range compressed {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return nil, fmt.Errorf("%s is compressed with %s, want plain or gzip", name, c.name)
		}
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in.r)
		if err != nil {
			return nil, in.broken(err)
		}
		in.r = bufio.NewReaderSize(z, bufferBytes)
	}
	return in, nil
}

// Close releases the file.
func (in *File) Close() error {
	if in.closer == nil {
		return nil
	}
	return in.closer.Close()
}

// Number returns the number of the line last handed out, counted from 1.
func (in *File) Number() int { return in.number }

// ErrTooLong is returned for a line that is longer than MaxLine; the next call goes on behind it.
var ErrTooLong = fmt.Errorf("a line longer than %d MiB", MaxLine>>20)

// Next returns the next line without its end, which is valid until the next call. The error is
// io.EOF after the last line, ErrTooLong, or says which input failed after how many lines.
func (in *File) Next() ([]byte, error) {
	line, err := in.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = in.nextSlow(line)
	}
	switch {
	case err == nil:
		in.number++
		return line[:len(line)-1], nil
	case err == ErrTooLong:
		in.number++
		return nil, err
	case err != io.EOF:
		return nil, in.broken(err)
	case len(line) == 0:
		return nil, io.EOF
	}
	in.number++ // the last line has no end
	return line, nil
}

// nextSlow collects a line that does not fit the buffer, of which head is the first part.
func (in *File) nextSlow(head []byte) ([]byte, error) {
	in.long = append(in.long[:0], head...)
	tooLong := false
	for {
		part, err := in.r.ReadSlice('\n')
		tooLong = tooLong || len(in.long)+len(part) > MaxLine
		if !tooLong {
			in.long = append(in.long, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case tooLong && (err == nil || err == io.EOF):
			return nil, ErrTooLong
		default:
			return in.long, err
		}
	}
}

// broken names the input that failed, and how far it could be read.
func (in *File) broken(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is a truncated gzip file: it ends after %d lines", in.Name, in.number)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("%s is a damaged gzip file: %v after %d lines", in.Name, err, in.number)
	}
	return fmt.Errorf("%w after %d lines", cannot("read", in.Name, err), in.number)
}

// cannot drops what an fs.PathError repeats.
func cannot(do, name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("cannot %s %s: %w", do, name, err)
}
