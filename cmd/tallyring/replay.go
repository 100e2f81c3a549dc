package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/accesslog"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/input"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/report"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/sample"
)

func replayCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	opts, err := parseFlags(args, stdout)
	if err == flag.ErrHelp {
		return nil
	}
	if err != nil {
		return err
	}
	progress := newProgress(stderr)
	defer progress.clear()
	c, source, err := readLogs(opts.logFlags, stdin, stderr, progress)
	if err != nil {
		return err
	}
	result, err := replay.Run(c.events, opts.plan, opts.top, progress.replaying)
	if err != nil {
		return err
	}
	r := report.Report{
		Source: source, Key: opts.key.String(),
		Lines: c.lines, Parsed: c.parsed, Skipped: c.lines - c.parsed, Keys: c.events.Keys(),
		First: timeOf(c.events.First()), Last: timeOf(c.events.Last()),
		Plan: opts.plan, Result: result,
	}
	if opts.html != "" {
		if r.View, err = replay.Look(c.events, opts.plan, progress.replaying); err != nil {
			return err
		}
	}
	progress.clear()
	c.complain.finish()
	return write(&r, opts.logFlags, stdout)
}

// written is a report in any of its forms.
type written interface {
	Table(w io.Writer) error
	JSON(w io.Writer) error
	Page(w io.Writer) error
}

// write writes the page, if one is asked for, and then the report in its format. A page that cannot
// be made whole is not written.
func write(r written, flags logFlags, stdout io.Writer) error {
	if flags.html != "" {
		var page bytes.Buffer
		if err := r.Page(&page); err != nil {
			return err
		}
		if err := os.WriteFile(flags.html, page.Bytes(), 0o666); err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return fmt.Errorf("cannot write %s: %w", flags.html, err)
		}
	}
	if flags.format == "json" {
		return r.JSON(stdout)
	}
	return r.Table(stdout)
}

func timeOf(tick tallyring.Tick) time.Time { return time.Unix(0, int64(tick)) }

// readLogs reads all requests into sorted events, and returns what to call their source.
func readLogs(
	flags logFlags, stdin io.Reader, stderr io.Writer, progress *progress,
) (c *collector, source string, err error) {
	c = &collector{
		events:   replay.NewEvents(flags.key),
		complain: complainer{out: stderr, progress: progress},
		progress: progress,
	}
	if source, err = c.readAll(flags.files, stdin); err != nil {
		return nil, "", err
	}
	if c.parsed == 0 {
		return nil, "", fmt.Errorf("no request in %d lines of %s, want an access log", c.lines,
			source)
	}
	c.events.Sort()
	return c, source, nil
}

// collector reads the lines of all inputs into events.
type collector struct {
	events   *replay.Events
	complain complainer
	progress *progress
	lines    int // that are not empty
	parsed   int
}

// readAll reads the named files, or the sample where none is named, and returns what to call them.
func (c *collector) readAll(files []string, stdin io.Reader) (source string, err error) {
	if len(files) == 0 {
		in, err := input.New(sample.Name, sample.Open())
		if err != nil {
			return "", err
		}
		return sample.Name, c.read(in)
	}
	for _, name := range files {
		in, err := input.Open(name, stdin)
		if err != nil {
			return "", err
		}
		err = c.read(in)
		in.Close()
		if err != nil {
			return "", err
		}
	}
	if len(files) == 1 && files[0] == "-" {
		return "standard input", nil
	}
	return strings.Join(files, ", "), nil
}

// read takes every line of one input.
func (c *collector) read(in *input.File) error {
	var parser accesslog.Parser
	for {
		line, err := in.Next()
		switch {
		case err == io.EOF:
			return nil
		case err == input.ErrTooLong:
			c.lines++
			c.complain.skipped(in, "", err)
			continue
		case err != nil:
			return err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		c.lines++
		rec, err := parser.Parse(text)
		if err != nil {
			c.complain.skipped(in, text, err)
			continue
		}
		c.parsed++
		if err := c.events.Add(rec.Tick, rec.Client, rec.Path, rec.Agent); err != nil {
			return err
		}
		c.progress.reading(c.lines)
	}
}
