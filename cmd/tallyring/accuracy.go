package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/claims"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/mix"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/report"
)

const accuracyUsage = `tallyring accuracy [flags] [FILE...]

Measures how far each kind of window is from the exact log: open loop, where every request is
counted and each is judged by the estimate, and closed loop, where each kind counts what it admits.
Files are those that replay reads; without a FILE the requests are made up, by -mix.

`

// accuracyOptions are the flags of accuracy.
type accuracyOptions struct {
	logFlags
	plan      lab.Plan
	mix       mix.Params
	mixGiven  bool
	hasClaims bool
}

// labResolutions are those of accuracy, where none are given: 2, 3, 7, 21 and 61 slots.
var labResolutions = []replay.Resolution{1, 2, 6, 20, 60}

// parseAccuracy reads the command line of accuracy, like parseFlags that of replay.
func parseAccuracy(args []string, stdout io.Writer) (accuracyOptions, error) {
	opts := accuracyOptions{
		mix: mix.Params{Kinds: mix.Kinds, Clients: 20, Windows: 120, Load: 100, Seed: 1},
	}
	set := opts.logFlags.newSet("accuracy")
	opts.plan.Epsilons = []float64{0.1, 0.01}
	set.Func("eps", "the relative errors of exponential histograms, a `list` (default 0.1,0.01)",
		func(s string) (err error) {
			opts.plan.Epsilons, err = parseEpsilons(s)
			return err
		})
	set.BoolVar(&opts.hasClaims, "claims", false, "also run what the documents claim about windows")
	whole := func(name, about string, value *int) {
		set.Func(name, fmt.Sprintf("%s (default %d)", about, *value), func(s string) (err error) {
			opts.mixGiven = true
			if *value, err = strconv.Atoi(s); err != nil {
				return errors.New("want a whole number")
			}
			return nil
		})
	}
	set.Func("mix", "make the requests of these `kinds` of clients: all, or a list of steady,\n"+
		"bursty, retrying, adversary (default all)",
		func(s string) (err error) {
			opts.mixGiven = true
			opts.mix.Kinds, err = mix.ParseKinds(s)
			return err
		})
	whole("clients", "how `many` of each kind", &opts.mix.Clients)
	whole("windows", "how long they go on, in `windows`", &opts.mix.Windows)
	whole("load", "the mean requests of a client per window, in `percent` of the limit",
		&opts.mix.Load)
	set.Func("seed", "the `number` that the made-up requests depend on (default 1)",
		func(s string) (err error) {
			opts.mixGiven = true
			if opts.mix.Seed, err = strconv.ParseUint(s, 10, 64); err != nil {
				return errors.New("want a whole number, 0 or more")
			}
			return nil
		})
	if err := opts.parse(set, args, accuracyUsage, stdout); err != nil {
		return accuracyOptions{}, err
	}
	if err := opts.complete(); err != nil {
		return accuracyOptions{}, usageError{err}
	}
	return opts, nil
}

// parseEpsilons reads a list such as "0.1,0.01".
func parseEpsilons(list string) (all []float64, err error) {
	for _, text := range strings.Split(list, ",") {
		eps, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(eps >= lab.LeastEpsilon && eps <= 1) {
			return nil, fmt.Errorf("want numbers of %v to 1", lab.LeastEpsilon)
		}
		if slices.Contains(all, eps) {
			return nil, errors.New("want each error once")
		}
		all = append(all, eps)
	}
	return all, nil
}

// complete makes the plan, and checks what belongs together.
func (o *accuracyOptions) complete() error {
	if len(o.files) > 0 && o.mixGiven {
		return errors.New("a FILE and flags of made-up requests, want one or the other")
	}
	if o.list == "" {
		o.resolutions = labResolutions
	}
	o.plan.Limit, o.plan.Window, o.plan.Resolutions = o.limit, o.window, o.resolutions
	if err := o.plan.Validate(); err != nil {
		return err
	}
	o.mix.Limit, o.mix.Window = o.limit, o.window
	if len(o.files) > 0 {
		return nil
	}
	return o.mix.Validate()
}

func accuracyCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	opts, err := parseAccuracy(args, stdout)
	if err == flag.ErrHelp {
		return nil
	}
	if err != nil {
		return err
	}
	progress := newProgress(stderr)
	defer progress.clear()
	events, source, err := opts.requests(stdin, stderr, progress)
	if err != nil {
		return err
	}
	r := report.Accuracy{
		Source: source, Key: opts.key.String(), Plan: opts.plan,
		First: timeOf(events.First()), Last: timeOf(events.Last()),
	}
	if r.Findings, err = lab.Run(events, opts.plan, progress.replaying); err != nil {
		return err
	}
	if opts.hasClaims {
		if r.Claims, err = claims.All(); err != nil {
			return err
		}
	}
	progress.clear()
	return write(&r, opts.logFlags, stdout)
}

// requests reads the files, or makes the requests up, and returns what to call them.
func (o *accuracyOptions) requests(
	stdin io.Reader, stderr io.Writer, progress *progress,
) (*replay.Events, string, error) {
	if len(o.files) > 0 {
		c, source, err := readLogs(o.logFlags, stdin, stderr, progress)
		if err != nil {
			return nil, "", err
		}
		progress.clear()
		c.complain.finish()
		return c.events, source, nil
	}
	events, err := mix.Events(o.mix)
	var kinds []string
	for _, kind := range o.mix.Kinds {
		kinds = append(kinds, string(kind))
	}
	return events, fmt.Sprintf("made-up %s clients, %d each, seed %d",
		strings.Join(kinds, ", "), o.mix.Clients, o.mix.Seed), err
}
