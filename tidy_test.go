package tallyring

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The executable style sheet: what a reader may rely on in every file of every module. Rules that
// look at one file are listed here, each with a reason and a cure; tidy_self_test.go shows each of
// them a source that it must refuse. Rules that need the compiler or the whole tree are tests of
// their own in the files beside this one.
//
// The tables that a change may have to extend stand with their rules: which package may import
// what in tidy_imports_test.go, which file may touch the machine or read the time in
// tidy_machine_test.go, which functions must stay cheap in tidy_compiler_test.go.

// rule checks one source file.
type rule struct {
	name  string
	check func(f *source, report reporter)
}

// reporter takes the line of a finding, or 0 where the whole file is meant, and a message that ends
// with the cure.
type reporter func(line int, format string, args ...any)

func rules() []rule {
	return slices.Concat(textRules(), importRules(), machineRules(), docRules())
}

// findings runs one rule over one file.
func findings(r rule, f *source) []string {
	var found []string
	r.check(f, func(line int, format string, args ...any) {
		place := f.path
		if line > 0 {
			place = fmt.Sprintf("%s:%d", f.path, line)
		}
		found = append(found, place+": "+fmt.Sprintf(format, args...))
	})
	return found
}

// Goal: every file of every module keeps every rule. Method: each module that go.work joins is
// walked, and each Go file in it parsed once.
func TestTidy(t *testing.T) {
	tree := loadTree(t)
	for _, rule := range rules() {
		t.Run(rule.name, func(t *testing.T) {
			for _, f := range tree.files {
				if found := findings(rule, f); len(found) > 0 {
					t.Errorf("%s", strings.Join(found, "\n"))
				}
			}
		})
	}
}
