package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	names   *regexp.Regexp
	quick   bool
	workers int
	timeout time.Duration
}

// command reads the flags, tries the mutants of the list, and fails unless all are caught.
func command(ctx context.Context, args []string, out, messages io.Writer) error {
	s, err := parse(args, messages)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	mutants, err := parseMutants(mutantsText)
	if err != nil {
		return fmt.Errorf("mutants.txt: %w", err)
	}
	mutants = s.choose(mutants)
	if len(mutants) == 0 {
		return fmt.Errorf("no mutant is named %q, want one of the list", s.names)
	}
	root, err := findRoot(".")
	if err != nil {
		return err
	}
	return s.tryAll(ctx, root, mutants, out)
}

// parse reads the flags.
func parse(args []string, messages io.Writer) (settings, error) {
	var s settings
	var names string
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(messages)
	flags.StringVar(&names, "run", "", "only mutants whose name matches this regular expression")
	flags.BoolVar(&s.quick, "quick", false, "only mutants on the short list")
	flags.IntVar(&s.workers, "j", runtime.NumCPU(), "workers, each with a copy of the tree")
	flags.DurationVar(&s.timeout, "timeout", 5*time.Minute, "for the tests of one package")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	var err error
	s.names, err = regexp.Compile(names)
	switch {
	case err != nil:
		return s, fmt.Errorf("-run is %q, want a regular expression: %w", names, err)
	case flags.NArg() > 0:
		return s, fmt.Errorf("unknown argument %q, want flags alone", flags.Arg(0))
	case s.workers < 1 || s.workers > 64:
		return s, fmt.Errorf("-j is %d, want 1 to 64", s.workers)
	case s.timeout <= 0:
		return s, fmt.Errorf("-timeout is %v, want more than 0", s.timeout)
	}
	return s, nil
}

// choose returns the mutants that were asked for.
func (s settings) choose(mutants []mutant) []mutant {
	return slices.DeleteFunc(mutants, func(m mutant) bool {
		return s.quick && !m.quick || !s.names.MatchString(m.name)
	})
}

// tryAll makes the workers' copies, sees that the tests pass, and tries one mutant after another.
func (s settings) tryAll(
	ctx context.Context, root string, mutants []mutant, out io.Writer,
) error {
	files, err := listTree(ctx, root)
	if err != nil {
		return err
	}
	benches, remove, err := s.benches(root, files)
	defer remove()
	if err != nil {
		return err
	}
	sites := affected(mutants)
	fmt.Fprintf(out, "%d mutants; the tests of %s pass without them:", len(mutants),
		strings.Join(sites, ", "))
	faults := spread(benches, sites, func(b *bench, site string) error {
		return b.pass(ctx, site)
	}, func(error) {})
	if err := errors.Join(faults...); err != nil {
		fmt.Fprintln(out, " no")
		return err
	}
	fmt.Fprintln(out, " yes")
	tally := spread(benches, mutants, func(b *bench, m mutant) outcome {
		return b.try(ctx, m)
	}, func(o outcome) { o.print(out) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return summarize(tally, out)
}

// benches copies the tree once for each worker. What is to be removed is told in any case.
func (s settings) benches(root string, files []string) (all []*bench, remove func(), err error) {
	remove = func() {
		for _, b := range all {
			_ = os.RemoveAll(b.folder) // a folder that stays is the system's to clean
		}
	}
	for range s.workers {
		folder, err := os.MkdirTemp("", "mutants-")
		if err != nil {
			return all, remove, err
		}
		all = append(all, &bench{folder, testRunner{folder, s.timeout}})
		if err := copyTree(root, folder, files); err != nil {
			return all, remove, err
		}
	}
	return all, remove, nil
}

// spread lets workers do tasks, tells each result as it comes, and returns them in the order of the
// tasks.
func spread[Task, Result any](
	benches []*bench, tasks []Task, do func(*bench, Task) Result, tell func(Result),
) []Result {
	results := make([]Result, len(tasks))
	next := make(chan int)
	var workers sync.WaitGroup
	var telling sync.Mutex
	for _, b := range benches {
		workers.Go(func() {
			for i := range next {
				results[i] = do(b, tasks[i])
				telling.Lock()
				tell(results[i])
				telling.Unlock()
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}
