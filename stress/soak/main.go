package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// command reads the flags, runs, and prints the report, also of a run that found a violation.
func command(ctx context.Context, args []string, out, messages io.Writer) error {
	s, err := parse(args, messages)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	run := newSoak(s, everything)
	err = run.run(ctx, messages)
	if wrong := run.report(out, err); err == nil {
		err = wrong
	}
	return err
}

// parse reads the flags.
func parse(args []string, messages io.Writer) (settings, error) {
	s := settings{batches: defaultBatches, least: defaultLeast, command: commandLine(args)}
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(messages)
	flags.DurationVar(&s.length, "for", 30*time.Second, "how long to run")
	flags.Uint64Var(&s.seed, "seed", 0, "seed of all that is drawn (default one of its own)")
	flags.IntVar(&s.goroutines, "goroutines", defaultGoroutines, "goroutines that work at once")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for s.seed == 0 {
		s.seed = rand.Uint64N(1 << 32)
	}
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("unknown argument %q, want flags alone", flags.Arg(0))
	case s.length <= 0:
		return s, fmt.Errorf("-for is %v, want more than 0", s.length)
	case s.goroutines < 2 || s.goroutines > 1000:
		return s, fmt.Errorf("-goroutines is %d, want 2 to 1000", s.goroutines)
	}
	return s, nil
}

// commandLine returns the command as a shell would take it.
func commandLine(args []string) string {
	plain := regexp.MustCompile(`^[\w./:=,-]+$`)
	line := "go run ./stress/soak"
	for _, arg := range args {
		if !plain.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		line += " " + arg
	}
	return line
}
