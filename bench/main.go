// Command bench measures the engine beside its peers, simple baselines and the floor, in one
// process and in turn, and writes the figures as text for benchstat and as a page for people:
//
//	go run ./bench                       everything, into bench/results/ARCH
//	go run ./bench -quick -html page.html
//	go run ./bench -run 'OneKey|Hot'     some workloads
//
// It is run from the root of the repository. README.md says what is measured and how.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/report"
	"github.com/tallyring/tallyring/bench/internal/workload"
)

// settings are the flags.
type settings struct {
	quick   bool
	run     *regexp.Regexp
	folder  string
	page    string
	command string
}

func main() {
	if err := bench(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parse reads the flags.
func parse(args []string, messages io.Writer) (settings, error) {
	s := settings{command: commandLine(args)}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(messages)
	flags.BoolVar(&s.quick, "quick", false, "smaller tables and fewer rounds: for a look")
	flags.StringVar(&s.folder, "out", filepath.Join("bench", "results", runtime.GOARCH),
		"`folder` for the text and the page")
	flags.StringVar(&s.page, "html", "", "`file` for the page (default index.html in the folder)")
	wanted := flags.String("run", "", "`regexp` that names of workloads match (default all)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q: workloads are chosen with -run", flags.Arg(0))
	}
	var err error
	if s.run, err = regexp.Compile(*wanted); err != nil {
		return s, fmt.Errorf("-run: %w", err)
	}
	if s.page == "" {
		s.page = filepath.Join(s.folder, "index.html")
	}
	return s, nil
}

// commandLine returns the command as a shell would take it.
func commandLine(args []string) string {
	plain := regexp.MustCompile(`^[\w./:=,-]+$`)
	line := "go run ./bench"
	for _, arg := range args {
		if !plain.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		line += " " + arg
	}
	return line
}

// bench measures, and writes what it measured. An interrupt ends the process at once.
func bench(args []string, messages io.Writer) error {
	s, err := parse(args, messages)
	if err == flag.ErrHelp {
		return nil
	}
	if err != nil {
		return err
	}
	signal.Reset(os.Interrupt)
	measured, err := measure(s, messages)
	if err != nil {
		return err
	}
	if len(measured) == 0 {
		return fmt.Errorf("no workload that can be measured here matches %q", s.run)
	}
	origin := report.OriginNow(s.command)
	text := filepath.Join(s.folder, "bench.txt")
	if err := write(text, func(w io.Writer) error {
		return report.Text(w, origin, measured)
	}); err != nil {
		return err
	}
	if err := write(s.page, func(w io.Writer) error {
		return report.Page(w, origin, measured)
	}); err != nil {
		return err
	}
	report.Summary(messages, measured)
	_, err = fmt.Fprintf(messages, "\ntext: %s\npage: %s\n", text, s.page)
	return err
}

// measure runs the workloads whose names match.
func measure(s settings, messages io.Writer) ([]workload.Measured, error) {
	clock := tallyring.Monotonic()
	began := clock.Now()
	size, rounds, span := workload.Full, 11, 50*time.Millisecond
	if s.quick {
		size, rounds, span = workload.Quick, 5, 8*time.Millisecond
	}
	runner := &workload.Runner{Rounds: rounds, Span: span, Clock: clock}
	runner.Progress = func(name, contender string) {
		passed := time.Duration(clock.Now() - began).Round(time.Second)
		fmt.Fprintf(messages, "%6v  %-28s %s\n", passed, name, contender)
	}
	var measured []workload.Measured
	for _, source := range workload.Catalog(size) {
		if !s.run.MatchString(source.Bench) {
			continue
		}
		w, err := source.Make()
		if err != nil {
			fmt.Fprintf(messages, "skipped %s: %v\n", source.Bench, err)
			continue
		}
		m, err := runner.Run(w)
		if err != nil {
			return nil, err
		}
		measured = append(measured, m)
	}
	return measured, nil
}

// write makes a file, and the folders above it.
func write(name string, content func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := content(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
