package main

import (
	"errors"
	"fmt"
	"strings"
)

const (
	tableHead   = "| window | made by |"
	originBegin = "<!-- origin -->"
	originEnd   = "<!-- /origin -->"
)

// fill returns the page with the cells of bench's columns, and the name of the machine, replaced.
func fill(page string, f figures) (string, error) {
	before, rest, ok := strings.Cut(page, originBegin)
	_, after, closed := strings.Cut(rest, originEnd)
	if !ok || !closed {
		return "", fmt.Errorf("no place for the machine: want %s and %s", originBegin, originEnd)
	}
	page = before + originBegin + f.machine() + originEnd + after
	lines := strings.Split(page, "\n")
	var heads []string // of the table, while a line is within it
	rows := 0
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, tableHead):
			heads = strings.Split(line, "|")
		case line == "":
			heads = nil
		case heads != nil && !strings.HasPrefix(line, "|---"):
			filled, err := fillRow(heads, strings.Split(line, "|"), f)
			if err != nil {
				return "", fmt.Errorf("%q: %w", line, err)
			}
			lines[i] = filled
			rows++
		}
	}
	if rows == 0 {
		return "", fmt.Errorf("no table, want one that begins with %q", tableHead)
	}
	return strings.Join(lines, "\n"), nil
}

// fillRow returns a row of the table with the cells of bench's columns replaced.
func fillRow(heads, cells []string, f figures) (string, error) {
	if len(cells) != len(heads) {
		return "", fmt.Errorf("%d cells, want %d", len(cells)-2, len(heads)-2)
	}
	found := 0
	for at, head := range heads {
		for _, column := range columns {
			if column.head == strings.TrimSpace(head) {
				cells[at] = " " + f.cell(column.head, strings.TrimSpace(cells[1])) + " "
				found++
			}
		}
	}
	if found != len(columns) {
		return "", errors.New("a column of bench is missing in the table's head")
	}
	return strings.Join(cells, "|"), nil
}
