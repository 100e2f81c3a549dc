package main

import (
	"fmt"
	"io"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/accesslog"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/input"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/report"
)

const (
	complaints   = 5  // skipped lines that are shown
	excerptChars = 60 // of a skipped line
)

// complainer shows the first of the lines that were skipped, and counts the others.
type complainer struct {
	out      io.Writer
	progress *progress
	count    int // without directives, which are as they should be
}

// skipped is told of a line that is no request, and why.
func (c *complainer) skipped(in *input.File, text string, reason error) {
	if reason == accesslog.ErrDirective {
		return
	}
	c.count++
	if c.count > complaints {
		return
	}
	c.progress.clear()
	fmt.Fprintf(c.out, "%s:%d: skipped, %v: %s\n", report.Escape(in.Name, excerptChars),
		in.Number(), reason, report.Escape(text, excerptChars))
}

// finish says how many more there were.
func (c *complainer) finish() {
	if more := c.count - complaints; more > 0 {
		fmt.Fprintf(c.out, "and %d more lines skipped\n", more)
	}
}
