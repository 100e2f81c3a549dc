package tallyring

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mainPath is the import path of the main module.
const mainPath = "github.com/tallyring/tallyring"

// source is one Go file.
type source struct {
	path   string // from the repository root, with slashes
	module string // folder of its module: "." is the main one
	text   string
	tree   *ast.File
	places *token.FileSet
}

// tree is what the style sheet looks at.
type tree struct {
	modules  []string  // folders, "." first
	files    []*source // Go files of all modules
	assembly []string  // paths of assembly files
}

// parse reads a file from its text alone, so that a rule can be shown a file that is nowhere.
func parse(path, module, text string) (*source, error) {
	places := token.NewFileSet()
	tree, err := parser.ParseFile(places, path, text, parser.ParseComments)
	return &source{path, module, text, tree, places}, err
}

func (f *source) isTest() bool   { return strings.HasSuffix(f.path, "_test.go") }
func (f *source) folder() string { return path.Dir(f.path) }

// inFloor reports whether the file belongs to the root package.
func (f *source) inFloor() bool { return f.folder() == "." }

// isPrivate reports whether nobody outside of its module can import the file's package.
func (f *source) isPrivate() bool {
	return f.tree.Name.Name == "main" || slices.Contains(strings.Split(f.path, "/"), "internal")
}

func (f *source) line(at token.Pos) int { return f.places.Position(at).Line }

// isBuilt reports whether the go command selects the file for a machine, without extra tags.
func (f *source) isBuilt(system, arch string) bool {
	context := build.Default
	context.GOOS, context.GOARCH = system, arch
	context.OpenFile = func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(f.text)), nil
	}
	selected, err := context.MatchFile(f.folder(), path.Base(f.path))
	return err == nil && selected
}

// nameOf returns the name under which the file imports path, or "" if it does not.
func (f *source) nameOf(importPath string) string {
	for _, spec := range f.tree.Imports {
		if spec.Path.Value != `"`+importPath+`"` {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

// calls returns where the file names a function of a package, such as time.Now.
func (f *source) calls(importPath string, functions ...string) []*ast.SelectorExpr {
	name := f.nameOf(importPath)
	if name == "" {
		return nil
	}
	var found []*ast.SelectorExpr
	ast.Inspect(f.tree, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		on, ok := selector.X.(*ast.Ident)
		if ok && on.Name == name && slices.Contains(functions, selector.Sel.Name) {
			found = append(found, selector)
		}
		return true
	})
	return found
}

// directives returns the comments of the file that begin with prefix, which looks like //go:name.
func (f *source) directives(prefix string) []*ast.Comment {
	var found []*ast.Comment
	for _, group := range f.tree.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, prefix) {
				found = append(found, comment)
			}
		}
	}
	return found
}

// loadTree parses every Go file of every module that go.work joins.
func loadTree(t *testing.T) *tree {
	t.Helper()
	found := &tree{modules: workModules(t)}
	err := filepath.WalkDir(".", func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at = filepath.ToSlash(at)
		if entry.IsDir() {
			if at != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(at) {
		case ".s":
			found.assembly = append(found.assembly, at)
		case ".go":
			text, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			file, err := parse(at, moduleOf(at, found.modules), string(text))
			if err != nil {
				return err
			}
			found.files = append(found.files, file)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found.files)
	return found
}

// workModules returns the folders that go.work joins.
func workModules(t *testing.T) []string {
	t.Helper()
	work, err := filepath.Abs("go.work")
	require.NoError(t, err)
	output, err := exec.Command("go", "work", "edit", "-json", work).Output()
	require.NoError(t, err, "go work edit -json go.work")
	var joined struct{ Use []struct{ DiskPath string } }
	require.NoError(t, json.Unmarshal(output, &joined))
	modules := []string{}
	for _, use := range joined.Use {
		modules = append(modules, path.Clean(filepath.ToSlash(use.DiskPath)))
	}
	require.Contains(t, modules, ".", "go.work joins the main module")
	return modules
}

// moduleOf returns the deepest of modules that holds the file at.
func moduleOf(at string, modules []string) string {
	deepest := "."
	for _, module := range modules {
		if strings.HasPrefix(at, module+"/") && len(module) > len(deepest) {
			deepest = module
		}
	}
	return deepest
}
