package tallyring

import (
	"go/build"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Files that may do what others may not.
var (
	mayUseUnsafe = []string{
		"line.go", "line_linux.go", "line_test.go", "line_linux_test.go",
		"pin.go", // the compiler asks for the import where a linkname stands
	}
	mayLinkname = []string{"pin.go"}
	mayReadTime = []string{
		"clock.go",
		"cmd/tallyring/progress.go",         // how often to draw is a matter of the viewer's time
		"bench/internal/workload/clocks.go", // it measures what time.Now costs
		"stress/soak/stopwatch.go",          // a run lasts as long as it is told to
	}
)

// machineRules keep the machine in the floor and the time at the top.
func machineRules() []rule {
	return []rule{
		{"build tags stay in the floor", checkBuildTags},
		{"unsafe stays where listed", checkUnsafe},
		{"linkname stays where listed", checkLinkname},
		{"the time is read where listed", checkClock},
		{"nothing sleeps", checkSleep},
		{"data tests can be made to run", checkDataTests},
	}
}

func checkBuildTags(f *source, report reporter) {
	if f.inFloor() {
		return
	}
	for _, tag := range append(f.directives("//go:build"), f.directives("// +build")...) {
		report(f.line(tag.Pos()), "%s: what depends on the machine belongs in the root package",
			tag.Text)
	}
	for _, machine := range [][2]string{{"linux", "amd64"}, {"windows", "arm64"}} {
		if !f.isBuilt(machine[0], machine[1]) {
			report(0, "its name or its tags keep it out of %s/%s builds: rename it, "+
				"or move what depends on the machine into the root package", machine[0], machine[1])
		}
	}
}

func checkUnsafe(f *source, report reporter) {
	if f.nameOf("unsafe") != "" && !slices.Contains(mayUseUnsafe, f.path) {
		report(0, "unsafe: use a type of the root package; a file of the root that needs it is "+
			"listed in mayUseUnsafe, with // Same as: and // Safety: over each use")
	}
}

func checkLinkname(f *source, report reporter) {
	if slices.Contains(mayLinkname, f.path) {
		return
	}
	for _, linkname := range f.directives("//go:linkname") {
		report(f.line(linkname.Pos()), "%s: pins are the one permitted linkname, call Pin",
			linkname.Text)
	}
}

func checkClock(f *source, report reporter) {
	if f.isTest() || slices.Contains(mayReadTime, f.path) {
		return
	}
	for _, call := range f.calls("time", "Now", "Since", "Until") {
		report(f.line(call.Pos()), "time.%s: take a Tick from the caller, or a Clock",
			call.Sel.Name)
	}
}

func checkSleep(f *source, report reporter) {
	for _, call := range f.calls("time", "Sleep", "After", "Tick") {
		report(f.line(call.Pos()), "time.%s: pass ticks in, and wait on a channel or a WaitGroup",
			call.Sel.Name)
	}
}

// checkDataTests holds the rule by which CI makes sure that tests on real data ran.
func checkDataTests(f *source, report reporter) {
	const names, demands = "TALLYRING_" + "DATA", "TALLYRING_" + "REQUIRE_DATA"
	if f.isTest() && strings.Contains(f.text, names) && !strings.Contains(f.text, demands) {
		report(0, "it looks for %s and never for %s: fail instead of skipping where that is set",
			names, demands)
	}
}

// Goal: assembly lives in the floor alone; purego selects none of it, nor any linkname; and where
// it is wanted it is selected. Method: the go command's own file selection, for each architecture.
func TestPuregoSelectsNoAssembly(t *testing.T) {
	tree := loadTree(t)
	for _, at := range tree.assembly {
		assert.Equal(t, ".", path.Dir(at), "%s: assembly belongs in the root package", at)
	}
	for _, arch := range []string{"amd64", "arm64", "386", "riscv64"} {
		pure := selected(t, arch, "purego")
		assert.Empty(t, pure.SFiles, "%s: add //go:build !purego to these", arch)
		for _, name := range pure.GoFiles {
			assert.NotContains(t, mayLinkname, name, "%s: add //go:build !purego", arch)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		file := "asm_" + arch + ".s"
		assert.Contains(t, selected(t, arch).SFiles, file, "its build tags keep it out")
		assert.NotContains(t, selected(t, arch, "race").SFiles, file, "add !race to its build tags")
	}
}

// selected returns the floor as the go command selects its files for one machine.
func selected(t *testing.T, arch string, tags ...string) *build.Package {
	t.Helper()
	context := build.Default
	context.GOOS, context.GOARCH, context.BuildTags = "linux", arch, tags
	context.CgoEnabled = false
	found, err := context.ImportDir(".", 0)
	require.NoError(t, err)
	return found
}
