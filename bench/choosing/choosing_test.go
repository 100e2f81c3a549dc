package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// page is the page as it stands.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "choosing.md"))
	require.NoError(t, err)
	return string(text)
}

// run is the text of a run in which every contender has three rounds of ratio, 1 and 90.
func run(ratio float64) string {
	text := "cpu: A CPU\ngo: go1.99\ncommit: abc\n" +
		"command: go run ./bench -out 'a b' -run Window -html=x\n\n"
	add := func(column int, name string) {
		for _, r := range []float64{90, 1, ratio} {
			text += fmt.Sprintf("Benchmark%s/impl=%s-1\t7\t4.1 ns/op\t%.2f x-floor\t0 B/op\n",
				columns[column].workload, name, r)
		}
	}
	for _, maker := range contender.Windows() {
		add(0, maker.Name)
		add(1, maker.Name)
	}
	for _, maker := range contender.WindowKeys() {
		add(2, maker.Name)
	}
	return text
}

// Goal: every row of the page has the median of its contender in each of bench's columns, and no
// other cell changes. Method: the page as it stands, filled with one ratio, and read cell by cell.
func TestPageIsFilled(t *testing.T) {
	f, err := read(run(4.567))
	require.NoError(t, err)
	before := page(t)
	after, err := fill(before, f)
	require.NoError(t, err)
	const machine = "A CPU, go1.99, commit abc, `go run ./bench -run Window`"
	assert.Contains(t, after, originBegin+machine+originEnd)
	figure := regexp.MustCompile(`^4\.6x$`)
	oldLines, newLines := strings.Split(before, "\n"), strings.Split(after, "\n")
	require.Len(t, newLines, len(oldLines))
	changed := 0
	for i, line := range newLines {
		if line == oldLines[i] || strings.Contains(line, originEnd) {
			continue
		}
		changed++
		was, is := strings.Split(oldLines[i], "|"), strings.Split(line, "|")
		require.Len(t, is, len(was))
		own := len(is) - 1 - len(columns)
		assert.Equal(t, was[:own], is[:own])
		isHeld := !strings.Contains(is[1], "exphist")
		for at, cell := range is[own : len(is)-1] {
			if at == 2 && !isHeld {
				assert.Equal(t, " - ", cell, "no limiter holds one")
				continue
			}
			assert.Regexp(t, figure, strings.TrimSpace(cell), line)
		}
	}
	assert.Equal(t, 11, changed, "rows")
	again, err := fill(after, f)
	require.NoError(t, err)
	assert.Equal(t, after, again)
}

// Goal: the page as it stands has figures, or a dash, in all of bench's cells, and names the
// machine that they are from.
func TestPageHasFigures(t *testing.T) {
	rows := 0
	assert.Regexp(t, originBegin+".+, go1.+, commit .+, `go run ./bench.*`"+originEnd, page(t))
	for _, line := range strings.Split(page(t), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 10 || !strings.Contains(cells[2], ".New(") {
			continue
		}
		rows++
		for _, cell := range cells[len(cells)-1-len(columns) : len(cells)-1] {
			assert.Regexp(t, `^ ([0-9]+(\.[0-9])?x|-) $`, cell, line)
		}
	}
	assert.Equal(t, 11, rows)
}

// Goal: a text or a page that cannot serve is refused in words.
func TestWrongFilesAreRefused(t *testing.T) {
	_, err := read("")
	assert.ErrorContains(t, err, "no line names the cpu")
	_, err = read(strings.ReplaceAll(run(2), "keys=1000000", "keys=200000"))
	assert.ErrorContains(t, err, "no figure of WindowKeys/keys=1000000")
	f, err := read(run(2))
	require.NoError(t, err)
	_, err = fill("# nothing", f)
	assert.ErrorContains(t, err, "no place for the machine")
	place := originBegin + originEnd + "\n"
	_, err = fill(place, f)
	assert.ErrorContains(t, err, "no table")
	_, err = fill(place+tableHead+" allowed |\n| fixed |\n", f)
	assert.ErrorContains(t, err, "1 cells, want 3")
	_, err = fill(place+tableHead+" allowed |\n| fixed | x | x |\n", f)
	assert.ErrorContains(t, err, "a column of bench is missing")
	assert.ErrorContains(t, choosing([]string{"-bench", "none"}, io.Discard), "none")
	assert.ErrorContains(t, choosing([]string{"x"}, io.Discard), `unknown argument "x"`)
}

// Goal: the command reads the text and writes the page where it is told to.
func TestCommandWritesThePage(t *testing.T) {
	folder := t.TempDir()
	text, target := filepath.Join(folder, "bench.txt"), filepath.Join(folder, "page.md")
	require.NoError(t, os.WriteFile(text, []byte(run(123)), 0o644))
	require.NoError(t, os.WriteFile(target, []byte(page(t)), 0o644))
	require.NoError(t, choosing([]string{"-bench", text, "-page", target}, io.Discard))
	filled, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Contains(t, string(filled), " | 90x | 90x | 90x |", "the median of 90, 1 and 123")
}
