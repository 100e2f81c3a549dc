package tallyring

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refused is a source that one rule must refuse, with a part of what it must say.
type refused struct{ path, text, says string }

// in makes a file of one package out of the rest of it.
func in(rest string) string { return "package p\n\n" + rest }

var (
	columns  = strings.Repeat("x", mostColumns-tabColumns)
	longBody = "func Long() {\n" + strings.Repeat("\t_ = 0\n", mostFunctionLines-2) + "}\n"
	longFile = strings.Repeat("// line\n", mostFileLines-2)
	later    = "TO" + "DO"
)

var refusedSources = map[string][]refused{
	"lines are short": {
		{"a.go", in("func a() {\n\t_" + columns + "()\n}\n"), "a.go:4: line of 103"},
		{"a.go", in("// éé" + columns + "\n"), "a.go:3: line of 101"},
	},
	"functions fit a screen": {
		{"a.go", in(strings.Replace(longBody, "{\n", "{\n\t_ = 1\n", 1)),
			"a.go:3: Long has 71 lines"},
	},
	"files are one idea": {
		{"a.go", in(longFile + "\n"), "a.go: file of 601 lines"},
		{"a_test.go", in(longFile + longFile), "a_test.go: file of 1198 lines"},
	},
	"nothing is left for later": {
		{"a.go", in("// " + later + ": think\n"), "a.go:3: " + later},
	},
	"gofmt changes nothing": {
		{"a.go", "package p\nimport \"fmt\"\n", "gofmt would change it"},
	},
	"packages import what DESIGN lets them": {
		{"queue/a.go", in(""), "queue has no row in mayImport"},
		{"atomicring/a.go",
			in("import \"" + testify + "/assert\"\n"), "testify is for tests"},
		{"a.go", in("import \"" + mainPath + "/table\"\n"),
			"a.go:3: package . imports " + mainPath + "/table"},
		{"atomicring/a.go",
			in("import \"" + mainPath + "/table\"\n"), "move what it needs down"},
		{"pertcore/a.go",
			in("import \"" + mainPath + "/table\"\n"), "move what it needs down"},
		{"table/a.go", in("import \"" + xsync + "\"\n"),
			"nested module"},
		{"atomicring/a_test.go",
			in("import \"golang.org/x/time/rate\"\n"), "nested module"},
		{"cmd/tallyring/internal/a/a.go",
			in("import \"golang.org/x/text\"\n"), "use the standard library"},
	},
	"build tags stay in the floor": {
		{"table/a.go", "//go:build !purego\n\n" + in(""),
			"table/a.go:1: //go:build !purego"},
		{"table/a_amd64.go", in(""), "keep it out of windows/arm64"},
		{"table/a_freebsd_test.go", in(""), "keep it out of linux/amd64"},
		{"cmd/tallyring/a_linux.go", in(""), "keep it out of windows"},
	},
	"unsafe stays where listed": {
		{"table/a.go", in("import \"unsafe\"\n"), "listed in mayUseUnsafe"},
		{"pair.go", in("import _ \"unsafe\"\n"), "listed in mayUseUnsafe"},
	},
	"linkname stays where listed": {
		{"pair.go", in("//go:linkname now runtime.nanotime\n"),
			"pair.go:3: //go:linkname now runtime.nanotime: pins are the one"},
	},
	"the time is read where listed": {
		{"limiter/a.go",
			in("import \"time\"\n\nvar a = time.Now()\n"), "limiter/a.go:5: time.Now"},
		{"limiter/a.go",
			in("import clock \"time\"\n\nvar a = clock.Since\n"), "time.Since"},
	},
	"nothing sleeps": {
		{"a_test.go", in("import \"time\"\n\nfunc a() { time.Sleep(1) }\n"),
			"a_test.go:5: time.Sleep"},
		{"a.go", in("import \"time\"\n\nfunc a() { <-time.After(1) }\n"), "time.After"},
	},
	"data tests can be made to run": {
		{"table/a_test.go",
			in("const a = \"TALLYRING_" + "DATA\"\n"), "fail instead of skipping"},
	},
	"exported names are explained": {
		{"a.go", in("func A() {}\n"), "a.go:3: A is exported"},
		{"a.go", in("type A int\n"), "A is exported"},
		{"a.go", in("const A = 1\n"), "A is exported"},
		{"a.go", in("var A, B = 1, 2\n"), "A is exported"},
		{"a.go", in("const (\n\ta = 1\n\tA = 2\n)\n"), "a.go:5: A is"},
		{"a.go", in("func (t *T) A() {}\n"), "A is exported"},
		{"a.go", in("func (t *T[int]) A() {}\n"), "A is exported"},
		{"a.go", in("// Does a thing.\nfunc A() {}\n"), "begin it so"},
	},
}

// Sources that every rule accepts, each beside one that is refused above.
var acceptedSources = []struct{ path, text string }{
	{"a.go", in("func a() {\n\t" + columns[2:] + "()\n}\n\n// éé" + columns[1:] + "\n")},
	{"a.go", in("// Long is as long as it may be.\n" + longBody)},
	{"a.go", in(longFile)},
	{"a.go", in("// DOTO" + "DO is not a mark.\n")},
	{"atomicring/a_test.go", in("import (\n\t\"" + testify + "/assert\"\n\t\"" + mainPath +
		"/table\"\n)\n")},
	{"line.go", in("import (\n\t\"unsafe\"\n\n\t\"" + xsys + "/cpu\"\n)\n")},
	{"limiter/a.go", in("import (\n\t\"time\"\n\n\t\"" + mainPath + "\"\n\t\"" + mainPath +
		"/table\"\n\n\t\"" + xsync + "\"\n)\n\nvar a = time.Second\n")},
	{"cmd/tallyring/a.go", in("import \"" + mainPath + "/cmd/tallyring/internal/report\"\n")},
	{"a_amd64.go", "//go:build !purego\n\npackage p\n"},
	{"pin.go", in("import _ \"unsafe\"\n\n//go:linkname procPin runtime.procPin\n")},
	{"clock.go", in("import \"time\"\n\nvar origin = time.Now()\n")},
	{"a_test.go", in("import \"time\"\n\nvar began = time.Now()\n")},
	{"table/a_test.go", in("const a, b = \"TALLYRING_" + "DATA\", \"TALLYRING_" +
		"REQUIRE_DATA\"\n")},
	{"a.go", in("// A is one.\nfunc A() {}\n\nfunc (t *t) A() {}\n\n// Both.\nconst (\n\tB = 1\n" +
		"\tC = 2\n)\n\nconst (\n\tD = 1 // first\n)\n\n// An E is one.\ntype E int\n")},
}

// Goal: every rule is able to refuse, and refuses nothing that it should not. Method: small bad and
// good sources; a rule that no bad source shows to work is an error by itself.
func TestTidyRulesAreAbleToFail(t *testing.T) {
	known := map[string]bool{}
	for _, rule := range rules() {
		known[rule.name] = true
		assert.NotEmpty(t, refusedSources[rule.name], "%q: no source shows that it can refuse",
			rule.name)
		for i, bad := range refusedSources[rule.name] {
			f, err := parse(bad.path, moduleOf(bad.path, []string{".", "cmd/tallyring"}), bad.text)
			require.NoError(t, err, "row %d of %s", i, rule.name)
			found := strings.Join(findings(rule, f), "\n")
			assert.Contains(t, found, bad.says, "row %d of %s", i, rule.name)
			assert.Regexp(t, `^[^:]+(:\d+)?: .+: .+`, found, "finding, then its cure")
		}
	}
	for name := range refusedSources {
		assert.True(t, known[name], "rows for %q, and no such rule", name)
	}
}

func TestTidyRulesAcceptWhatIsRight(t *testing.T) {
	for i, good := range acceptedSources {
		f, err := parse(good.path, moduleOf(good.path, []string{".", "cmd/tallyring"}), good.text)
		require.NoError(t, err, "row %d", i)
		for _, rule := range rules() {
			assert.Empty(t, findings(rule, f), fmt.Sprintf("row %d, %s", i, rule.name))
		}
	}
}

// Goal: a package without its comment, or without a checked example, is noticed.
func TestPackagesThatExplainNothingAreNoticed(t *testing.T) {
	const doc, example = "// Package p counts.\n", "func ExampleA() {\n\t// Output: 1\n}\n"
	rows := []struct {
		files [][2]string
		lacks []string
	}{
		{[][2]string{{"p/a.go", doc + in("")}, {"p/example_test.go", in(example)}}, nil},
		{[][2]string{{"p/a.go", in("")}, {"p/example_test.go", in(example)}},
			[]string{"no package comment"}},
		{[][2]string{{"p/a.go", doc + in("")}}, []string{"no example_test.go"}},
		{[][2]string{{"p/a.go", doc + in("")}, {"p/example_test.go", in("func ExampleA() {}\n")}},
			[]string{"no example_test.go"}},
		{[][2]string{{"p/example_test.go", in(example)}}, []string{"a package of tests alone"}},
		{[][2]string{{"c/internal/p/a.go", doc + in("")}}, nil},
		{[][2]string{{"c/main.go", "package main\n"}}, []string{"no package comment"}},
	}
	for i, row := range rows {
		var files []*source
		for _, file := range row.files {
			f, err := parse(file[0], ".", file[1])
			require.NoError(t, err)
			files = append(files, f)
		}
		lacks := explains(files)
		require.Len(t, lacks, len(row.lacks), "row %d: %v", i, lacks)
		for j := range lacks {
			assert.Contains(t, lacks[j], row.lacks[j], "row %d", i)
		}
	}
}
