package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var choosingPage = filepath.Join("..", "..", "docs", "choosing.md")

// printed are the rows of a report of accuracy, by the name of the kind: those of the open loop, of
// the closed loop, and of the estimates, as they are printed.
type printed map[string][][]string

// laboratory runs accuracy and returns what it prints of each kind.
func laboratory(t *testing.T, arguments string) printed {
	t.Helper()
	status, stdout, stderr := command("", strings.Fields(arguments)...)
	require.Equal(t, 0, status, stderr)
	rows := printed{}
	for _, line := range strings.Split(stdout, "\n") {
		if fields := strings.Fields(line); len(fields) == 9 {
			name := kindName(fields[0], fields[1])
			rows[name] = append(rows[name], fields)
		}
	}
	return rows
}

// kindName makes one name of the first two columns, such as "sliding 7", "exphist 0.1", "log".
func kindName(kind, slots string) string {
	if slots == "-" || kind == "fixed" {
		return kind
	}
	return kind + " " + strings.TrimPrefix(slots, "e=")
}

// choosingCells are the cells that the laboratory fills, by the head of their column, as printed by
// a run on usual clients and one on the adversary.
func choosingCells(t *testing.T, name string, usual, adversary printed) map[string]string {
	t.Helper()
	require.Len(t, usual[name], 3, "%s: open loop, closed loop, estimates", name)
	require.Len(t, adversary[name], 3, name)
	open, closed, estimates := usual[name][0], usual[name][1], usual[name][2]
	return map[string]string{
		"bytes per key":        estimates[8],
		"worst, found":         adversary[name][2][7],
		"mean difference":      estimates[2],
		"wrong allow":          open[5],
		"wrong deny":           open[8],
		"denies, of the log's": times(t, closed[2], usual["log"][1][2]),
	}
}

// times divides two counts that were printed.
func times(t *testing.T, count, by string) string {
	t.Helper()
	var values [2]float64
	for i, text := range []string{count, by} {
		value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		require.NoError(t, err)
		values[i] = value
	}
	return fmt.Sprintf("%.2fx", values[0]/values[1])
}

// Goal: the figures of docs/choosing.md are those that the commands beside them print today.
// Method: run them, and compare each cell of the columns that they fill; "go test . -update" writes
// the cells anew.
func TestChoosingQuotesTheLaboratory(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("the page holds the bytes of a log, which are others on a 32-bit machine")
	}
	const usualRun = "accuracy -limit 100 -mix steady,bursty"
	const adversaryRun = "accuracy -limit 100 -mix adversary"
	usual, adversary := laboratory(t, usualRun), laboratory(t, adversaryRun)
	text, err := os.ReadFile(choosingPage)
	require.NoError(t, err)
	for _, run := range []string{usualRun, adversaryRun} {
		assert.Contains(t, string(text), "\n    go run ./cmd/tallyring "+run+"\n")
	}
	lines := strings.Split(string(text), "\n")
	var heads []string // of the table, while a line is within it
	compared := map[string]bool{}
	for i, line := range lines {
		cells := strings.Split(line, "|")
		switch {
		case strings.HasPrefix(line, "| window | made by |"):
			heads = cells
		case line == "":
			heads = nil
		case heads != nil && !strings.HasPrefix(line, "|---"):
			name := strings.TrimSpace(cells[1])
			want := choosingCells(t, name, usual, adversary)
			require.Len(t, cells, len(heads), line)
			for column, head := range heads {
				cell, ok := want[strings.TrimSpace(head)]
				if !ok {
					continue
				}
				if *update {
					cells[column] = " " + cell + " "
				}
				assert.Equal(t, cell, strings.TrimSpace(cells[column]), "%s, %s", name, head)
				compared[name+head] = true
			}
			lines[i] = strings.Join(cells, "|")
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(choosingPage, []byte(strings.Join(lines, "\n")), 0o644))
	}
	assert.Len(t, compared, 11*6, "kinds of the page, and columns of the laboratory")
}
