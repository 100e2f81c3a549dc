package tallyring

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func docRules() []rule {
	return []rule{{"exported names are explained", checkExported}}
}

// checkExported wants a comment over every exported function, method, type, constant and variable,
// and one that begins with the name over each that is declared alone.
func checkExported(f *source, report reporter) {
	if f.isTest() || f.tree.Name.Name == "main" {
		return
	}
	for _, declared := range f.tree.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
				f.wantDoc(d.Name, d.Doc, report)
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				f.wantDocs(d, report)
			}
		}
	}
}

// wantDocs checks a declaration of types, constants or variables. In a group each has a comment of
// its own, before or behind it, or shares the one over the group.
func (f *source) wantDocs(d *ast.GenDecl, report reporter) {
	for _, declared := range d.Specs {
		var names []*ast.Ident
		var doc, behind *ast.CommentGroup
		switch spec := declared.(type) {
		case *ast.TypeSpec:
			names, doc, behind = []*ast.Ident{spec.Name}, spec.Doc, spec.Comment
		case *ast.ValueSpec:
			names, doc, behind = spec.Names, spec.Doc, spec.Comment
		}
		for _, name := range names {
			switch {
			case !name.IsExported():
			case d.Lparen == token.NoPos && len(names) == 1:
				f.wantDoc(name, d.Doc, report)
			case doc == nil && behind == nil && d.Doc == nil:
				report(f.line(name.Pos()), noDoc, name.Name)
			}
		}
	}
}

const noDoc = "%s is exported and has no comment: say what it means, its unit, its errors, " +
	"and what callers at once may rely on"

func (f *source) wantDoc(name *ast.Ident, doc *ast.CommentGroup, report reporter) {
	if doc == nil {
		report(f.line(name.Pos()), noDoc, name.Name)
		return
	}
	begins := regexp.MustCompile(`^((A|An|The) )?` + regexp.QuoteMeta(name.Name) + `\b`)
	if !begins.MatchString(doc.Text()) {
		report(f.line(name.Pos()), "the comment of %s does not begin with its name: begin it so, "+
			"for whoever searches", name.Name)
	}
}

// exportedReceiver reports whether a method belongs to an exported type.
func exportedReceiver(receiver *ast.FieldList) bool {
	exported := false
	ast.Inspect(receiver.List[0].Type, func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		exported = exported || ok && name.IsExported()
		_, generic := node.(*ast.IndexExpr)
		return !generic || !exported
	})
	return exported
}

// Goal: a stranger finds their room: every package explains itself, and every one that others can
// import shows a run of itself with its output checked.
func TestPackagesExplainThemselves(t *testing.T) {
	for folder, files := range byFolder(loadTree(t).files) {
		for _, message := range explains(files) {
			t.Errorf("%s: %s", folder, message)
		}
	}
}

func byFolder(files []*source) map[string][]*source {
	folders := map[string][]*source{}
	for _, f := range files {
		folders[f.folder()] = append(folders[f.folder()], f)
	}
	return folders
}

// explains returns what the files of one package lack.
func explains(files []*source) []string {
	var lacks []string
	code := slices.DeleteFunc(slices.Clone(files), (*source).isTest)
	if len(code) == 0 {
		return []string{"a package of tests alone: put a file with the package comment beside them"}
	}
	documented := func(f *source) bool { return f.tree.Doc != nil }
	if !slices.ContainsFunc(code, documented) {
		lacks = append(lacks, "no package comment: write its map, glossary and contract in doc.go")
	}
	if code[0].isPrivate() {
		return lacks
	}
	for _, f := range files {
		if path.Base(f.path) != "example_test.go" {
			continue
		}
		for _, example := range exampleFunctions(f) {
			if regexp.MustCompile(`(?m)^// (Unordered o|O)utput:`).MatchString(example) {
				return lacks
			}
		}
	}
	return append(lacks, "no example_test.go with an Example whose output is checked: write one")
}

// exampleFunctions returns the text of each Example, its comments without their indentation.
func exampleFunctions(f *source) []string {
	var examples []string
	for _, declared := range f.tree.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if ok && regexp.MustCompile(`^Example`).MatchString(function.Name.Name) {
			from, to := f.places.Position(function.Pos()), f.places.Position(function.End())
			text := f.text[from.Offset:to.Offset]
			examples = append(examples, regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(text, ""))
		}
	}
	return examples
}

// Goal: the papers that every reader looks for are there, and CI can be run.
func TestPapersAreThere(t *testing.T) {
	for _, name := range []string{
		"README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", ".ci/run",
	} {
		info, err := os.Stat(name)
		if assert.NoError(t, err, "%s: write it", name) {
			assert.Positive(t, info.Size(), "%s is empty: write it", name)
		}
	}
	info, err := os.Stat(".ci/run")
	require.NoError(t, err)
	if os.PathSeparator == '/' {
		assert.NotZero(t, info.Mode()&0o100, ".ci/run: chmod +x it")
	}
}
