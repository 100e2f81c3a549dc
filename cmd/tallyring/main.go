// Command tallyring replays access logs through tallyring's rate limits, to show what a limit would
// have done before it is switched on, and measures how far each kind of window is from the truth.
//
//	tallyring replay [flags] [FILE...]
//	tallyring accuracy [flags] [FILE...]
//
// Package layout:
//
//	internal/input      files, plain or gzip, and their lines
//	internal/accesslog  lines to requests, one file per format
//	internal/sample     the log that is replayed where none is given
//	internal/replay     requests through every scheme of counting, and the statistics
//	internal/mix        made-up requests of a few kinds of clients
//	internal/lab        requests through every kind of window, and how far each is from the truth
//	internal/claims     what the documents say about windows, run and compared
//	internal/report     the findings as a table, as JSON or as a page
//
// The exit status is 0 if a report was written, 1 if the input could not be read, and 2 if the
// command line is wrong. Errors are one line on standard error.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

const usage = `tallyring shows what a rate limit would have done to the requests of an access log.

  tallyring replay [flags] [FILE...]     replay logs through every scheme of counting
  tallyring accuracy [flags] [FILE...]   measure how far each kind of window is from the truth
  tallyring help                         this text; "tallyring replay -h" lists the flags
  tallyring version                      the version of this build
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command in a process: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := dispatch(args, stdin, stdout, stderr)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "tallyring: %v\n", err)
	var wrong usageError
	if errors.As(err, &wrong) {
		return 2
	}
	return 1
}

// usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func dispatch(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	name := "help"
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "replay":
		return replayCommand(args[1:], stdin, stdout, stderr)
	case "accuracy":
		return accuracyCommand(args[1:], stdin, stdout, stderr)
	case "help", "-h", "-help", "--help":
		_, err := io.WriteString(stdout, usage)
		return err
	case "version", "-version", "--version":
		_, err := fmt.Fprintf(stdout, "tallyring %s\n", version())
		return err
	}
	return usageError{fmt.Errorf("unknown command %q, want replay, accuracy, help or version",
		name)}
}

// version is that of the module, with the commit where the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return text + " " + info.GoVersion
}
