package main

import (
	"fmt"
	"io"
	"strings"
)

// print says in one line, or with the trouble below it, what became of the mutant.
func (o outcome) print(out io.Writer) {
	switch {
	case o.trouble != nil:
		fmt.Fprintf(out, "ERROR     %-44s %s\n", o.mutant.name,
			strings.ReplaceAll(strings.TrimSpace(o.trouble.Error()), "\n", "\n          "))
	case o.caught:
		fmt.Fprintf(out, "caught    %-44s %s\n", o.mutant.name, o.by)
	default:
		fmt.Fprintf(out, "SURVIVED  %-44s %s\n", o.mutant.name, o.mutant.says)
	}
}

// summarize prints the totals, and fails unless every mutant was caught.
func summarize(tally []outcome, out io.Writer) error {
	var caught int
	var survived, wrong []string
	for _, o := range tally {
		switch {
		case o.trouble != nil:
			wrong = append(wrong, o.mutant.name)
		case o.caught:
			caught++
		default:
			survived = append(survived, o.mutant.name)
		}
	}
	fmt.Fprintf(out, "%d mutants: %d caught, %d survived, %d could not be tried\n",
		len(tally), caught, len(survived), len(wrong))
	switch {
	case len(wrong) > 0:
		return fmt.Errorf("could not be tried: %s", strings.Join(wrong, "; "))
	case len(survived) > 0:
		return fmt.Errorf("survived: %s", strings.Join(survived, "; "))
	}
	return nil
}
