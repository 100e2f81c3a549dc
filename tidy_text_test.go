package tallyring

import (
	"go/ast"
	"go/format"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	mostColumns       = 100
	tabColumns        = 4
	mostFunctionLines = 70
	mostFileLines     = 600
	mostTestLines     = 900
)

// textRules hold what one sees without reading: length, form, loose ends.
func textRules() []rule {
	return []rule{
		{"lines are short", checkColumns},
		{"functions fit a screen", checkFunctionLines},
		{"files are one idea", checkFileLines},
		{"nothing is left for later", checkLooseEnds},
		{"gofmt changes nothing", checkFormat},
	}
}

func checkColumns(f *source, report reporter) {
	for i, line := range strings.Split(f.text, "\n") {
		tabs := strings.Count(line, "\t")
		columns := utf8.RuneCountInString(line) + tabs*(tabColumns-1)
		if columns > mostColumns {
			report(i+1, "line of %d columns, at most %d: break it, or name a part of it",
				columns, mostColumns)
		}
	}
}

func checkFunctionLines(f *source, report reporter) {
	for _, declared := range f.tree.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := f.line(function.End()) - f.line(function.Pos()) + 1
		if lines > mostFunctionLines {
			report(f.line(function.Pos()), "%s has %d lines, at most %d: give a part of it a name",
				function.Name.Name, lines, mostFunctionLines)
		}
	}
}

func checkFileLines(f *source, report reporter) {
	most := mostFileLines
	if f.isTest() {
		most = mostTestLines
	}
	if lines := strings.Count(f.text, "\n"); lines > most {
		report(0, "file of %d lines, at most %d: cut it by idea and name the parts by their nouns",
			lines, most)
	}
}

// looseEnds matches the usual marks; it is spelled so that it does not match itself.
var looseEnds = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

func checkLooseEnds(f *source, report reporter) {
	for i, line := range strings.Split(f.text, "\n") {
		if mark := looseEnds.FindString(line); mark != "" {
			report(i+1, "%s: do it now, or file an issue and remove the mark", mark)
		}
	}
}

func checkFormat(f *source, report reporter) {
	formatted, err := format.Source([]byte(f.text))
	if err != nil {
		report(0, "gofmt cannot read it: %v: mend the syntax", err)
		return
	}
	if string(formatted) != f.text {
		report(0, "gofmt would change it: run gofmt -w on it")
	}
}
