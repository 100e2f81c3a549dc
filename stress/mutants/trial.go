package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// outcome is what became of a mutant.
type outcome struct {
	mutant  mutant
	caught  bool
	by      string // the package and the test that failed first
	trouble error  // why the mutant could not be tried
}

// bench is a copy of the tree on which one worker tries mutants.
type bench struct {
	folder string
	runner testRunner
}

// try puts a mutant in, runs the tests until one fails, and puts the tree back.
func (b *bench) try(ctx context.Context, m mutant) (o outcome) {
	o.mutant = m
	at := filepath.Join(b.folder, filepath.FromSlash(m.file))
	sound, err := os.ReadFile(at)
	if err != nil {
		o.trouble = err
		return o
	}
	broken, err := m.apply(string(sound))
	if err != nil {
		o.trouble = err
		return o
	}
	if o.trouble = os.WriteFile(at, []byte(broken), 0o644); o.trouble != nil {
		return o
	}
	defer func() {
		o.trouble = errors.Join(o.trouble, os.WriteFile(at, sound, 0o644))
	}()
	if m.by != "" {
		if b.judge(ctx, &o, m.sites[0], m.by) {
			return o
		}
	}
	for _, site := range m.sites {
		if b.judge(ctx, &o, site, "") {
			return o
		}
	}
	return o
}

// judge runs tests against a mutant, and tells whether that settles what became of it.
func (b *bench) judge(ctx context.Context, o *outcome, site, test string) bool {
	result, err := b.runner.run(ctx, site, test)
	switch {
	case err != nil:
		o.trouble = err
	case result.unbuilt:
		o.trouble = fmt.Errorf("%s does not compile with it:\n%s", site, result.output)
	case result.timedOut && !o.mutant.hangs:
		o.trouble = fmt.Errorf("the tests of %s ran out of time, and it does not say that it hangs",
			site)
	case result.timedOut:
		o.caught, o.by = true, site+" hangs"
	case !result.passed:
		o.caught, o.by = true, site+" "+result.failed
	default:
		return false
	}
	return true
}

// pass runs the tests of a site on the tree as it is.
func (b *bench) pass(ctx context.Context, site string) error {
	result, err := b.runner.run(ctx, site, "")
	if err == nil && !result.passed {
		err = fmt.Errorf("the tests of %s fail on the tree as it is, %s first:\n%s",
			site, result.failed, result.output)
	}
	return err
}

// affected returns the sites of mutants, each once.
func affected(mutants []mutant) []string {
	var sites []string
	for _, m := range mutants {
		sites = append(sites, m.sites...)
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}
