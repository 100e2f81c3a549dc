package tallyring

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contractPage says which evidence holds each rule of the contract and each known fault.
const contractPage = "stress/README.md"

// contractRows are the rows that the page must have, by letter: rules of the contract, traps of the
// machine, and faults of the field.
var contractRows = map[string]int{"S": 20, "M": 9, "F": 33}

// evidence is what a row may name.
type evidence struct {
	tests  map[string]bool   // folder.TestName and folder.FuzzName; the root's folder is tallyring
	models map[string]string // text by file name
	runner string            // what runs the models and their mutants
	steps  map[string]bool   // .ci/steps/NAME
}

var (
	contractRow = regexp.MustCompile(`^\|\s*([A-Z])(\d+)\s*\|`)
	codeSpan    = regexp.MustCompile("`([^`]+)`")
	testSpan    = regexp.MustCompile(`^[a-z][\w/]*\.(Test|Fuzz)\w*$`)
	modelSpan   = regexp.MustCompile(`^(\w+\.pml)(?: (-D)?(\w+))?$`)
	stepSpan    = regexp.MustCompile(`^\.ci/steps/\S*$`)
)

const notBuilt = "not built yet"

// wrong returns what is wrong with the page.
func (e evidence) wrong(page string) (wrong []string) {
	rows := map[string]int{}
	for i, line := range strings.Split(page, "\n") {
		report := func(format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s", contractPage, i+1,
				fmt.Sprintf(format, args...)))
		}
		row := contractRow.FindStringSubmatch(line)
		if row != nil {
			rows[row[1]+row[2]]++
			if says := e.wrongRow(line); says != "" {
				report("%s%s %s", row[1], row[2], says)
			}
		}
		for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			known, says := e.look(span[1])
			if says != "" {
				report("`%s`: %s", span[1], says)
			} else if row != nil && !known {
				report("`%s` is no test, model or step: write folder.TestName, file.pml -DMUTANT "+
					"or .ci/steps/NAME", span[1])
			}
		}
	}
	return append(wrong, wrongRows(rows)...)
}

// wrongRow returns what a row lacks.
func (e evidence) wrongRow(line string) string {
	cells := strings.Split(strings.Trim(line, "| "), "|")
	if len(cells) != 3 {
		return fmt.Sprintf("has %d columns: write its name, the rule in short, and what holds it",
			len(cells))
	}
	switch spans := codeSpan.FindAllString(cells[2], -1); {
	case strings.TrimSpace(cells[1]) == "":
		return "does not say what it asks: write it in short"
	case codeSpan.MatchString(cells[1]):
		return "names code in the wrong column: what holds it stands last"
	case len(spans) == 0 && !strings.Contains(cells[2], notBuilt):
		return "names nothing that holds it: name a test, or say that it is " + notBuilt
	}
	return ""
}

// look tells whether a span of code is meant as evidence, and what is wrong with it then.
func (e evidence) look(span string) (known bool, says string) {
	if testSpan.MatchString(span) {
		if !e.tests[span] {
			return true, "no such test: its folder, a dot and its name"
		}
		return true, ""
	}
	if stepSpan.MatchString(span) {
		if !e.steps[span] {
			return true, "no such step"
		}
		return true, ""
	}
	model := modelSpan.FindStringSubmatch(span)
	if model == nil {
		return false, ""
	}
	file, isMutant, name := model[1], model[2] != "", regexp.QuoteMeta(model[3])
	text, there := e.models[file]
	runs := regexp.MustCompile(`\b` + strings.TrimSuffix(file, ".pml") + `\b`)
	word := regexp.MustCompile(`(\b|-D)` + name + `\b`)
	choice := regexp.MustCompile(`(?m)^#(ifn?def\s+|.*\bdefined\()` + name + `\b`)
	switch {
	case !there:
		return true, "no such model in stress/models"
	case !runs.MatchString(e.runner):
		return true, "nothing runs this model"
	case isMutant && !choice.MatchString(text):
		return true, "the model has no such mutant"
	case isMutant && !word.MatchString(e.runner):
		return true, "nothing runs this mutant"
	case !isMutant && !word.MatchString(text):
		return true, "the model has no such name"
	}
	return true, ""
}

// wrongRows returns which rows are missing, repeated or unknown.
func wrongRows(rows map[string]int) (wrong []string) {
	for letter, count := range contractRows {
		for number := 1; number <= count; number++ {
			name := fmt.Sprint(letter, number)
			if rows[name] != 1 {
				wrong = append(wrong, fmt.Sprintf("%s: %d rows for %s, want one", contractPage,
					rows[name], name))
			}
			delete(rows, name)
		}
	}
	for name := range rows {
		wrong = append(wrong, fmt.Sprintf("%s: a row for %s, and no such rule", contractPage, name))
	}
	slices.Sort(wrong)
	return wrong
}

// findEvidence looks at what there is.
func findEvidence(t *testing.T) evidence {
	t.Helper()
	e := evidence{map[string]bool{}, map[string]string{}, "", map[string]bool{}}
	for _, f := range loadTree(t).files {
		for _, name := range testFunctions(f) {
			e.tests[name] = true
		}
	}
	files, err := filepath.Glob("stress/models/*")
	require.NoError(t, err)
	for _, at := range files {
		text, err := os.ReadFile(at)
		require.NoError(t, err)
		if path.Ext(at) == ".pml" {
			e.models[path.Base(filepath.ToSlash(at))] = string(text)
		} else {
			e.runner += string(text)
		}
	}
	steps, err := filepath.Glob(".ci/steps/*")
	require.NoError(t, err)
	for _, at := range steps {
		e.steps[filepath.ToSlash(at)] = true
	}
	return e
}

// testFunctions returns the tests and fuzz targets of a file, as the page names them.
func testFunctions(f *source) (names []string) {
	if !f.isTest() {
		return nil
	}
	folder := f.folder()
	if f.inFloor() {
		folder = path.Base(mainPath)
	}
	for _, declared := range f.tree.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Recv != nil || len(function.Type.Params.List) != 1 {
			continue
		}
		name := folder + "." + function.Name.Name
		pointer, ok := function.Type.Params.List[0].Type.(*ast.StarExpr)
		if !ok || !testSpan.MatchString(name) {
			continue
		}
		on, ok := pointer.X.(*ast.SelectorExpr)
		if ok && on.Sel.Name == map[bool]string{true: "F", false: "T"}[strings.HasPrefix(
			function.Name.Name, "Fuzz")] {
			names = append(names, name)
		}
	}
	return names
}

// Goal: every rule of the contract and every known fault has a row that says what holds it, and
// what it names is there.
func TestTheContractIsCovered(t *testing.T) {
	page, err := os.ReadFile(contractPage)
	require.NoError(t, err)
	for _, message := range findEvidence(t).wrong(string(page)) {
		t.Error(message)
	}
}

// madeUpEvidence is evidence for made-up pages.
func madeUpEvidence(t *testing.T) evidence {
	t.Helper()
	f, err := parse("table/a_test.go", ".", in("import \"testing\"\n\n"+
		"func TestA(t *testing.T) {}\nfunc FuzzB(f *testing.F) {}\nfunc TestC(f *testing.F) {}\n"+
		"func (x *testing) TestD(t *testing.T) {}\nfunc TestE() {}\n"))
	require.NoError(t, err)
	root, err := parse("a_test.go", ".", in("func TestRoot(t *testing.T) {}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"table.TestA", "table.FuzzB"}, testFunctions(f))
	require.Equal(t, []string{"tallyring.TestRoot"}, testFunctions(root))
	e := evidence{
		map[string]bool{}, map[string]string{
			"m.pml": "#ifdef NOSEAL\n#if defined(LATE)\none_cell", "idle.pml": "#ifdef NOSEAL",
		},
		"check m.pml 'no seal' fail -DNOSEAL", map[string]bool{".ci/steps/20-test": true},
	}
	for _, name := range append(testFunctions(f), testFunctions(root)...) {
		e.tests[name] = true
	}
	return e
}

// madeUpPage returns a page without a fault, in which one row is replaced.
func madeUpPage(name, row string) string {
	page := "Run `go test ./table` and `.ci/steps/20-test`.\n\n" +
		"| rule | asks | held by |\n|---|---|---|\n"
	for letter, count := range contractRows {
		for number := range count {
			if at := fmt.Sprint(letter, number+1); at == name {
				page += row
			} else {
				page += "| " + at + " | right | `table.TestA`, `tallyring.TestRoot` |\n"
			}
		}
	}
	return page
}

// Goal: the check is able to refuse. Method: a made-up page with one wrong row, or none.
func TestGapsInTheContractAreNoticed(t *testing.T) {
	e := madeUpEvidence(t)
	const good = "| S3 | right | `table.FuzzB` and `m.pml -DNOSEAL`, `m.pml one_cell`, `m.pml` |\n"
	for row, says := range map[string]string{
		good:                               "",
		"| S3 | right | not built yet |\n": "",
		"":                                 "0 rows for S3, want one",
		good + good:                        "2 rows for S3, want one",
		good + "| S21 | right | `table.TestA` |\n":      "a row for S21, and no such rule",
		good + "| X1 | right | `table.TestA` |\n":       "a row for X1, and no such rule",
		"| S3 | right | later |\n":                      "S3 names nothing that holds it",
		"| S3 | right |\n":                              "S3 has 2 columns",
		"| S3 |  | `table.TestA` |\n":                   "S3 does not say what it asks",
		"| S3 | `table.TestA` | not built yet |\n":      "S3 names code in the wrong column",
		"| S3 | right | `table.TestC` |\n":              "`table.TestC`: no such test",
		"| S3 | right | `table.TestGone` |\n":           "`table.TestGone`: no such test",
		"| S3 | right | `pertcore.TestA` |\n":           "`pertcore.TestA`: no such test",
		"| S3 | right | `TestA` |\n":                    "`TestA` is no test, model or step",
		"| S3 | right | `gone.pml` |\n":                 "no such model",
		"| S3 | right | `idle.pml -DNOSEAL` |\n":        "nothing runs this model",
		"| S3 | right | `m.pml -DGONE` |\n":             "the model has no such mutant",
		"| S3 | right | `m.pml -DLATE` |\n":             "nothing runs this mutant",
		"| S3 | right | `m.pml one` |\n":                "the model has no such name",
		"| S3 | right | `.ci/steps/99-gone` |\n":        "no such step",
		good + "\nSee `table.TestGone` for the rest.\n": "`table.TestGone`: no such test",
	} {
		wrong := e.wrong(madeUpPage("S3", row))
		if says == "" {
			assert.Empty(t, wrong, row)
		} else {
			assert.Len(t, wrong, 1, row)
			assert.Contains(t, strings.Join(wrong, "\n"), says, row)
		}
	}
}
