package tallyring

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pointFolders are the packages with points.
var pointFolders = []string{".", "atomicring", "table", "pertcore"}

// guarded matches a call of AtPoint as each must stand, on three lines.
var guarded = regexp.MustCompile(`(?m)^\t+if (tallyring\.)?Holding \{\n` +
	`\t+(tallyring\.)?AtPoint\((tallyring\.)?\w+\)\n\t+\}$`)

// Goal: points cost a normal build nothing, not one instruction, in any function of the packages
// that have them. Method: compile each package as it is, and once more with every point blanked
// out, and compare all instructions and the lines that they come from. A build that holds
// goroutines must differ, or the comparison sees nothing.
func TestPointsLeaveNoTraceInTheCode(t *testing.T) {
	overlay := blankPoints(t)
	for _, folder := range pointFolders {
		with, without := code(t, folder), code(t, folder, "-overlay", overlay)
		require.Greater(t, len(with), 100)
		if !assert.Len(t, with, len(without), "package %s: its points are code", folder) {
			continue
		}
		for i := range with {
			require.Equal(t, without[i], with[i], "package %s: its points change the code", folder)
		}
		assert.NotEqual(t, with, code(t, folder, "-tags", "tallyring_hold"), "package %s", folder)
	}
}

// blankPoints returns an overlay for go build in which all points are empty lines.
func blankPoints(t *testing.T) (overlay string) {
	folder := t.TempDir()
	replaced, points := map[string]string{}, map[string]int{}
	for _, f := range loadTree(t).files {
		if f.module != "." || f.isTest() || strings.HasPrefix(f.path, "point") {
			continue // those that begin so say what points are
		}
		here := len(guarded.FindAllString(f.text, -1))
		assert.Equal(t, strings.Count(f.text, "AtPoint("), here,
			"%s: guard each point with if tallyring.Holding", f.path)
		if here == 0 {
			continue
		}
		points[f.folder()] += here
		text := guarded.ReplaceAllString(f.text, "\n\n")
		if !strings.Contains(text, "tallyring.") { // nothing else of the root is used there
			text = strings.Replace(text, "\t\""+mainPath+"\"\n", "\n", 1)
		}
		original, err := filepath.Abs(f.path)
		require.NoError(t, err)
		replaced[original] = filepath.Join(folder, strings.ReplaceAll(f.path, "/", "_"))
		require.NoError(t, os.WriteFile(replaced[original], []byte(text), 0o600))
	}
	for _, at := range pointFolders {
		require.Positive(t, points[at], "package %s has no points", at)
		delete(points, at)
	}
	require.Empty(t, points, "packages with points that are not in pointFolders")
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	overlay = filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, text, 0o600))
	return overlay
}

// code compiles a package and returns its instructions: where in the source they come from, how
// they are encoded, and what the linker fills in; not at which addresses they happen to lie.
func code(t *testing.T, folder string, options ...string) (instructions []string) {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "package.a")
	arguments := append([]string{"build", "-trimpath", "-o", archive}, options...)
	output, err := exec.Command("go", append(arguments, "./"+folder)...).CombinedOutput()
	require.NoError(t, err, "go build %v: %s", options, output)
	listing, err := exec.Command("go", "tool", "objdump", archive).Output()
	require.NoError(t, err, "go tool objdump")
	for line := range strings.Lines(string(listing)) {
		columns := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' })
		switch {
		case strings.HasPrefix(line, "TEXT "):
			instructions = append(instructions, strings.Fields(line)[1])
		case len(columns) > 3:
			name, _, _ := strings.Cut(columns[3], " ")
			filled := strings.Join(columns[4:], " ")
			instructions = append(instructions, strings.Join(
				[]string{columns[0], columns[2], name, strings.TrimSpace(filled)}, " "))
		}
	}
	return instructions
}

// Goal: no program carries what points are made of, unless it was built to hold goroutines. Method:
// the linker's symbols of a program that uses the front door, and of the same one built to hold.
func TestPointsLeaveNoSymbol(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program.go")
	require.NoError(t, os.WriteFile(program, []byte("package main\n\nimport (\n\t\"time\"\n\n\t\""+
		mainPath+"/limiter\"\n)\n\nfunc main() {\n\tl, _ := limiter.New(1, time.Second)\n"+
		"\tprintln(l.Allow(\"key\"))\n}\n"), 0o600))
	traces := regexp.MustCompile(regexp.QuoteMeta(mainPath) +
		`\.(AtPoint|Watch|watching|watcher)\b`)
	for _, tags := range []string{"", "tallyring_hold"} {
		binary := filepath.Join(t.TempDir(), "program")
		build := exec.Command("go", "build", "-tags", tags, "-o", binary, program)
		output, err := build.CombinedOutput()
		require.NoError(t, err, "%s", output)
		symbols, err := exec.Command("go", "tool", "nm", binary).Output()
		require.NoError(t, err)
		require.Contains(t, string(symbols), mainPath+"/table.(*Table).Allow")
		found := traces.FindAllString(string(symbols), -1)
		assert.Equal(t, tags != "", len(found) > 0, "-tags %q: %q", tags, found)
	}
}
