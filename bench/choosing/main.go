// Command choosing fills the columns of docs/choosing.md that bench measures, from the text that a
// run of bench has left:
//
//	go run ./bench -run Window
//	go run ./bench/choosing
//
// It is run from the root of the repository. The other columns belong to a test in cmd/tallyring.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	if err := choosing(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "choosing:", err)
		os.Exit(1)
	}
}

// choosing reads the figures and writes the page.
func choosing(args []string, messages io.Writer) error {
	flags := flag.NewFlagSet("choosing", flag.ContinueOnError)
	flags.SetOutput(messages)
	text := flags.String("bench", filepath.Join("bench", "results", runtime.GOARCH, "bench.txt"),
		"`file` that bench has written")
	name := flags.String("page", filepath.Join("docs", "choosing.md"), "`file` to fill")
	if err := flags.Parse(args); err == flag.ErrHelp {
		return nil
	} else if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q: files are named by -bench and -page", flags.Arg(0))
	}
	measured, err := os.ReadFile(*text)
	if err != nil {
		return err
	}
	f, err := read(string(measured))
	if err != nil {
		return fmt.Errorf("%s: %w", *text, err)
	}
	page, err := os.ReadFile(*name)
	if err != nil {
		return err
	}
	filled, err := fill(string(page), f)
	if err != nil {
		return fmt.Errorf("%s: %w", *name, err)
	}
	return os.WriteFile(*name, []byte(filled), 0o644)
}
