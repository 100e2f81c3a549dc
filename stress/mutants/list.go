package main

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// mutantsText is the list. Its syntax stands on its top.
//
//go:embed mutants.txt
var mutantsText string

// mutant is one change of one file.
type mutant struct {
	name     string
	file     string   // from the root of the tree, with slashes
	sites    []string // packages as the go command takes them, from the root; after a +, build tags
	by       string   // the test of the first site that is tried before all others, or ""
	quick    bool     // on the short list
	hangs    bool     // it is caught by running out of time
	says     string   // what is wrong with it
	old, new string
}

var mutantName = regexp.MustCompile(`^[a-z]+: [a-z][a-z0-9 ,-]*$`)

// parseMutants reads a list. Each error names the line.
func parseMutants(text string) ([]mutant, error) {
	var mutants []mutant
	seen := map[string]bool{}
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); {
		if lines[at] == "" || strings.HasPrefix(lines[at], "#") {
			at++
			continue
		}
		began := at + 1
		m, next, err := parseMutant(lines, at)
		switch {
		case err != nil:
			return nil, err
		case seen[m.name]:
			return nil, fmt.Errorf("line %d: a second mutant %q, want a name of its own",
				began, m.name)
		}
		seen[m.name] = true
		mutants, at = append(mutants, m), next
	}
	return mutants, nil
}

// parseMutant reads the entry that begins at a line, and returns the line after it.
func parseMutant(lines []string, at int) (m mutant, next int, err error) {
	began := at + 1
	for ; at < len(lines); at++ {
		word, value, _ := strings.Cut(lines[at], " ")
		value = strings.TrimSpace(value)
		switch word {
		case "mutant":
			m.name = value
		case "file":
			m.file = value
		case "tests":
			m.sites = strings.Fields(value)
		case "by":
			m.by = value
		case "quick":
			m.quick = true
		case "hangs":
			m.hangs = true
		case "says":
			m.says = strings.TrimSpace(m.says + " " + value)
		case "old":
			if m.old, at, err = block(lines, at+1, "new"); err != nil {
				return m, 0, err
			}
			if m.new, at, err = block(lines, at+1, "end"); err != nil {
				return m, 0, err
			}
			return m, at + 1, m.check(began)
		default:
			return m, 0, fmt.Errorf("line %d: %q, want mutant, file, tests, by, quick, hangs, "+
				"says or old", at+1, word)
		}
	}
	return m, 0, fmt.Errorf("line %d: the mutant has no end, want old, new and end", began)
}

// block returns the lines from one on up to the one that is end alone.
func block(lines []string, from int, end string) (text string, at int, err error) {
	for at = from; at < len(lines); at++ {
		if lines[at] == end {
			return strings.Join(lines[from:at], "\n"), at, nil
		}
	}
	return "", 0, fmt.Errorf("line %d: no line %q follows, want one", from, end)
}

// check tells what an entry lacks.
func (m *mutant) check(line int) error {
	wants := ""
	switch {
	case !mutantName.MatchString(m.name):
		wants = "a name such as \"rotation: no seal\""
	case !strings.HasSuffix(m.file, ".go") || path.Clean(m.file) != m.file:
		wants = "a Go file"
	case len(m.sites) == 0:
		wants = "packages whose tests fail"
	case m.says == "":
		wants = "a sentence that says what is wrong"
	case strings.TrimSpace(m.old) == "":
		wants = "a text to replace"
	case m.old == m.new:
		wants = "another text"
	default:
		return nil
	}
	return fmt.Errorf("line %d: mutant %q wants %s", line, m.name, wants)
}

// apply returns the file's text with the mutant in it.
func (m *mutant) apply(text string) (string, error) {
	if found := strings.Count(text, m.old); found != 1 {
		return "", fmt.Errorf("its text occurs %d times in %s, want once", found, m.file)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}
