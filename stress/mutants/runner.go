package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// styleTests are left out: a mutant is to be caught by what it does, not by how it looks.
const styleTests = "^(TestTidy|TestTidyRules.*|TestHotFunctionsKeepTheirPromises|" +
	"TestCompilersAccountIsRead|TestPackagesExplain.*|TestPuregoSelectsNoAssembly|" +
	"TestPapersAreThere|TestPackagesThatExplain.*)$"

// tests is how the tests of one package ended.
type tests struct {
	passed   bool
	unbuilt  bool   // they do not compile
	timedOut bool   // after the time that they were given
	failed   string // the test that failed first
	output   string // the last lines of what was said, by that test if there is one
}

// testRunner runs tests in a copy of the tree.
type testRunner struct {
	folder  string
	timeout time.Duration
}

// event is a line of go test -json.
type event struct {
	Action string
	Test   string
	Output string
}

// run runs the tests of one package, or the one test that is named. Build tags follow the package
// after a plus sign.
func (r testRunner) run(ctx context.Context, site, test string) (tests, error) {
	pkg, tags, _ := strings.Cut(site, "+")
	arguments := []string{"test", "-json", "-short", "-count=1", "-failfast", "-vet=off",
		"-trimpath", "-timeout", r.timeout.String(), "-tags", tags, "-skip", styleTests}
	if test != "" {
		arguments = append(arguments, "-run", "^"+test+"$")
	}
	command := exec.CommandContext(ctx, "go", append(arguments, pkg)...)
	command.Dir, command.Env = r.folder, environment()
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	output, err := command.Output()
	if ctx.Err() != nil {
		return tests{}, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return tests{}, err
	}
	result := read(output)
	if exit != nil {
		result.output += string(exit.Stderr)
	}
	result.passed = err == nil
	if !result.passed && result.failed == "" && !result.unbuilt && !result.timedOut {
		return result, fmt.Errorf("the tests of %s fail, and none of them does:\n%s", site,
			result.output)
	}
	return result, nil
}

// environment is that of the caller, but for what is said about the tree: the copy is another one,
// and the data that some tests look for does not lie beside it.
func environment() []string {
	var kept []string
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		if name != "GOWORK" && name != "TALLYRING_REQUIRE_"+"DATA" && name != "PWD" {
			kept = append(kept, setting)
		}
	}
	return kept
}

// read makes sense of the events of one package. A test that runs when its process ends has failed.
func read(output []byte) (result tests) {
	var running []string
	said := map[string][]string{} // by each test
	events := bufio.NewScanner(bytes.NewReader(output))
	events.Buffer(nil, 1<<24)
	for events.Scan() {
		var e event
		if json.Unmarshal(events.Bytes(), &e) != nil {
			continue
		}
		top, _, _ := strings.Cut(e.Test, "/")
		switch e.Action {
		case "output", "build-output":
			said[top] = append(said[top], e.Output)
			result.timedOut = result.timedOut ||
				strings.HasPrefix(e.Output, "panic: test timed out after ")
		case "build-fail":
			result.unbuilt = true
		case "run":
			running = append(running, top)
		case "fail":
			if top != "" && result.failed == "" {
				result.failed = top
			}
		}
		if ended := e.Action == "pass" || e.Action == "skip"; ended && top == e.Test {
			running = nil
		}
	}
	if result.failed == "" && len(running) > 0 && !result.timedOut {
		result.failed = running[len(running)-1]
	}
	lines := said[result.failed]
	result.output = strings.Join(lines[max(0, len(lines)-40):], "")
	return result
}
