package tallyring

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	xsync   = "github.com/puzpuzpuz/xsync/v3"
	testify = "github.com/stretchr/testify"
	xsys    = "golang.org/x/sys"
	xterm   = "golang.org/x/term" // the command asks whether stderr is a terminal
	anyone  = "*"                 // whatever the nested module's go.mod names
)

// mayImport is the import matrix: which packages of the main module, and which modules of others,
// the production code of a package may import beside the standard library. A row holds for one
// folder, or with /... for all below it too, as nested modules have it.
var mayImport = []struct {
	folder string
	ours   []string // folders of the main module
	others []string // modules
}{
	{".", nil, []string{xsys}},
	{"atomicring", []string{"."}, nil},
	{"table", []string{".", "atomicring"}, nil},
	{"slidinglog", []string{"."}, []string{xsync}},
	{"limiter", []string{".", "atomicring", "pertcore", "table", "slidinglog",
		"gcra"}, []string{xsync}},
	{"pertcore", []string{".", "atomicring"}, nil},
	{"exphist", []string{"."}, nil},
	{"gcra", []string{"."}, nil},
	{"httplimit", []string{".", "limiter"}, nil},

	{"cmd/tallyring/...", []string{".", "atomicring", "table", "slidinglog", "limiter", "exphist",
		"gcra"},
		[]string{xterm}},
	{"stress/...", []string{".", "atomicring", "pertcore", "table", "slidinglog", "limiter",
		"exphist", "gcra"}, []string{anyone}},
	{"bench/...", []string{".", "atomicring", "pertcore", "table", "slidinglog", "limiter",
		"exphist", "gcra"},
		[]string{anyone}},
}

func importRules() []rule {
	return []rule{{"packages import what DESIGN lets them", checkImports}}
}

func checkImports(f *source, report reporter) {
	ours, others, known := allowedImports(f.folder())
	if !known {
		report(0, "package %s has no row in mayImport: add one to tidy_imports_test.go, "+
			"as DESIGN.md draws it", f.folder())
		return
	}
	for _, spec := range f.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		line := f.line(spec.Pos())
		first, _, _ := strings.Cut(imported, "/")
		switch {
		case err != nil:
			report(line, "import of %s: quote it", spec.Path.Value)
		case !strings.Contains(first, "."): // the standard library
		case isWithin(imported, testify):
			if !f.isTest() {
				report(line, "%s: testify is for tests, use the standard library", imported)
			}
		case isWithin(imported, mainPath):
			folder := path.Clean("./" + strings.TrimPrefix(imported, mainPath))
			if f.isTest() || f.module != "." && isWithin(folder, f.module) {
				continue // tests may compare with any package; a nested module knows itself
			}
			if !slices.Contains(ours, folder) {
				report(line, "package %s imports %s, may import %q: move what it needs down, or up",
					f.folder(), imported, ours)
			}
		default:
			if !slices.ContainsFunc(others, func(m string) bool {
				return m == anyone || isWithin(imported, m)
			}) {
				report(line, "package %s imports %s, may import %q: use the standard library, "+
					"or put it in a nested module", f.folder(), imported, others)
			}
		}
	}
}

// allowedImports returns the row of mayImport that covers the folder.
func allowedImports(folder string) (ours, others []string, known bool) {
	for _, row := range mayImport {
		below, wide := strings.CutSuffix(row.folder, "/...")
		if row.folder == folder || wide && isWithin(folder, below) {
			return row.ours, row.others, true
		}
	}
	return nil, nil, false
}

// isWithin reports whether at is the path within or below it.
func isWithin(at, within string) bool {
	return at == within || strings.HasPrefix(at, within+"/")
}
