package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// list returns the mutants of the list, and the root of the tree.
func list(t *testing.T) (mutants []mutant, root string) {
	t.Helper()
	mutants, err := parseMutants(mutantsText)
	require.NoError(t, err)
	root, err = findRoot(".")
	require.NoError(t, err)
	return mutants, root
}

// Goal: the list does not rot. Method: each mutant's text is found exactly once in its file, as
// both are now; what comes of it is Go; each package has tests, and the test that is named is one.
func TestEveryMutantFitsTheTree(t *testing.T) {
	mutants, root := list(t)
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
		if !assert.NoError(t, err, m.name) {
			continue
		}
		broken, err := m.apply(string(text))
		if assert.NoError(t, err, m.name) {
			_, err = parser.ParseFile(token.NewFileSet(), m.file, broken, 0)
			assert.NoError(t, err, m.name)
		}
		for i, site := range m.sites {
			pkg, _, _ := strings.Cut(site, "+")
			require.True(t, pkg == "." || strings.HasPrefix(pkg, "./"), "%s: %s", m.name, pkg)
			tests := testsOf(t, filepath.Join(root, filepath.FromSlash(pkg)))
			assert.NotEmpty(t, tests, "%s: %s has no tests", m.name, pkg)
			if i == 0 && m.by != "" {
				assert.Contains(t, tests, m.by, "%s: %s has no such test", m.name, pkg)
			}
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// testsOf returns the names of the tests in a folder.
func testsOf(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range testFunction.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	return names
}

// Goal: each kind of step has its mutants, and the short list has some.
func TestEveryAreaHasMutants(t *testing.T) {
	mutants, _ := list(t)
	areas, quick := map[string]int{}, 0
	for _, m := range mutants {
		area, _, _ := strings.Cut(m.name, ":")
		areas[area]++
		if m.quick {
			quick++
		}
	}
	for _, area := range []string{"rotation", "sums", "arithmetic", "insert", "generations",
		"joint", "queue", "pair", "cycle"} {
		assert.Positive(t, areas[area], area)
		delete(areas, area)
	}
	assert.Empty(t, areas, "areas that this test does not know")
	assert.Positive(t, quick)
}

const entry = `mutant  one: two
file    a/b.go
tests   ./a
says    A sentence.
old
x
new
y
end
`

func TestAWrongEntryIsRefusedWithItsLine(t *testing.T) {
	for _, wrong := range []struct{ old, new, says string }{
		{"one: two", "two", `line 1: mutant "two" wants a name such as`},
		{"a/b.go", "a/../b.go", "wants a Go file"},
		{"a/b.go", "a/b.s", "wants a Go file"},
		{"./a", "", "wants packages whose tests fail"},
		{"A sentence.", "", "wants a sentence"},
		{"\nx\n", "\n \n", "wants a text to replace"},
		{"\ny\n", "\nx\n", "wants another text"},
		{"file ", "fill ", `line 2: "fill", want mutant, file,`},
		{"\nend", "\nEnd", `line 7: no line "end" follows`},
		{"\nnew", "", `line 5: no line "new" follows`},
		{"old\nx\nnew\ny\nend\n", "", "line 5: \"\", want mutant, file,"},
		{entry, entry + "\n# a second one\n" + entry, `line 12: a second mutant "one: two"`},
	} {
		text := strings.Replace(entry, wrong.old, wrong.new, 1)
		require.NotEqual(t, entry, text)
		_, err := parseMutants(text)
		if assert.Error(t, err, wrong.says) {
			assert.Contains(t, err.Error(), wrong.says)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
}

func TestAnEntryIsReadWhole(t *testing.T) {
	const more = "by      TestX\nquick\nhangs\nsays  Or\nsays "
	text := "# about\n\n" + strings.Replace(entry, "says ", more, 1)
	mutants, err := parseMutants(text)
	require.NoError(t, err)
	require.Equal(t, []mutant{{name: "one: two", file: "a/b.go", sites: []string{"./a"},
		by: "TestX", quick: true, hangs: true, says: "Or A sentence.", old: "x", new: "y"}},
		mutants)
}

func TestATextMustOccurOnce(t *testing.T) {
	m := mutant{file: "a.go", old: "b", new: "c"}
	got, err := m.apply("abd")
	require.NoError(t, err)
	require.Equal(t, "acd", got)
	_, err = m.apply("abbd")
	require.EqualError(t, err, "its text occurs 2 times in a.go, want once")
	_, err = m.apply("ad")
	require.EqualError(t, err, "its text occurs 0 times in a.go, want once")
}
