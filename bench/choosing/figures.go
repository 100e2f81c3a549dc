package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tallyring/tallyring/bench/internal/workload"
)

// figures are what a run of bench has found about the kinds of windows.
type figures struct {
	origin map[string]string    // cpu, go, commit, command
	ratios map[string][]float64 // to the floor, one a round, by column and kind: "allowed fixed"
}

// columns are the columns that bench fills, and the workload of each.
var columns = []struct{ head, workload string }{
	{"allowed", "Windows/workload=allowed"},
	{"denied", "Windows/workload=denied"},
	{"a million keys", "WindowKeys/keys=1000000"},
}

var (
	originLine = regexp.MustCompile(`^(cpu|go|commit|command): (.+)$`)
	fileFlag   = regexp.MustCompile(` --?(out|html)[ =]('[^']*'|\S+)`)
	ratioLine  = regexp.MustCompile(`^Benchmark(\S+)/impl=(\S+)-1\t.*\t([0-9.]+) x-floor\t`)
)

// read returns the figures of a text in benchmark form.
func read(text string) (figures, error) {
	f := figures{map[string]string{}, map[string][]float64{}}
	for _, line := range strings.Split(text, "\n") {
		if m := originLine.FindStringSubmatch(line); m != nil {
			f.origin[m[1]] = m[2]
		}
		m := ratioLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		ratio, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return f, fmt.Errorf("%q: %w", line, err)
		}
		for _, column := range columns {
			if column.workload == m[1] {
				key := column.head + " " + m[2]
				f.ratios[key] = append(f.ratios[key], ratio)
			}
		}
	}
	for _, part := range []string{"cpu", "go", "commit", "command"} {
		if f.origin[part] == "" {
			return f, fmt.Errorf("no line names the %s: want a text that bench has written", part)
		}
	}
	for _, column := range columns {
		if len(f.ratios[column.head+" fixed"]) == 0 {
			return f, fmt.Errorf("no figure of %s: run bench in full, or with -run Window and "+
				"without -quick", column.workload)
		}
	}
	return f, nil
}

// cell returns the median ratio of a kind, or a dash where it was not measured.
func (f figures) cell(head, kind string) string {
	values := f.ratios[head+" "+contenderOf(head, kind)]
	if len(values) == 0 {
		return "-"
	}
	switch ratio := workload.Median(values); {
	case ratio < 10:
		return fmt.Sprintf("%.1fx", ratio)
	default:
		return fmt.Sprintf("%.0fx", ratio)
	}
}

// contenderOf returns the name in bench of a kind of the page. The log by itself is there at two
// limits; the page's limit is 100.
func contenderOf(head, kind string) string {
	if kind == "log" && head != "a million keys" {
		return "log-100"
	}
	return strings.ReplaceAll(kind, " ", "-")
}

// machine says where the figures come from. Where the run has put its files is left out: it is no
// part of what was measured, and may be a folder of that machine's.
func (f figures) machine() string {
	return fmt.Sprintf("%s, %s, commit %s, `%s`", f.origin["cpu"], f.origin["go"],
		f.origin["commit"], fileFlag.ReplaceAllString(f.origin["command"], ""))
}
