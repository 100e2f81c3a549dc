package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

const (
	progressAfter = time.Second            // work that is done sooner shows none
	progressPause = 200 * time.Millisecond // between two updates
	progressEvery = 1 << 12                // lines between two looks at the clock
)

// progress is one line on a terminal that says how far the work is. Without a terminal it is nil,
// and silent.
type progress struct {
	out   io.Writer
	next  time.Time // no update before this
	shown bool
}

// newProgress returns the progress line of a terminal, or nil.
func newProgress(out io.Writer) *progress {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{out: out, next: time.Now().Add(progressAfter)}
}

// reading tells how many lines have been read.
func (p *progress) reading(lines int) {
	if p != nil && lines%progressEvery == 0 {
		p.show("reading: %d lines", lines)
	}
}

// replaying tells how many of all decisions have been taken.
func (p *progress) replaying(done, all int) {
	if p != nil {
		p.show("replaying: %d %%", int64(done)*100/int64(max(all, 1)))
	}
}

func (p *progress) show(form string, values ...any) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(progressPause), true
	fmt.Fprintf(p.out, "\r\x1b[K"+form, values...)
}

// clear takes the line away, so that something else can be written there.
func (p *progress) clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
