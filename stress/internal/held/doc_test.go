package held

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aboutTests are the files whose tests are of the tests.
var aboutTests = []string{"doc_test.go", "explore_test.go", "points_test.go"}

// TestTableOfArguments holds the package comment's table: it names every test of an argument, and
// none that is not there.
func TestTableOfArguments(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	var listed, written []string
	rows := regexp.MustCompile(`(?m)^//\t(Test\w+) `)
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, row[1])
	}
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		if slices.Contains(aboutTests, file) {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, declared := range tree.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") {
				written = append(written, function.Name.Name)
			}
		}
	}
	require.ElementsMatch(t, written, listed)
}
