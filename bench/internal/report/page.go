package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/workload"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	Origin   Origin
	Warnings []string
	Kinds    []kindText
	Sections []section
	Losses   []lossText
}

type kindText struct{ Class, Text string }

// section is one workload.
type section struct {
	ID, Title, About string
	Plots            []plot
	Notes            []noteText
}

type noteText struct{ Name, Text string }

// lossText is a Loss, written out.
type lossText struct {
	Title, Figure, Unit, Other, Kind, Theirs, Ours, Times string
	IsClear                                               bool
}

// Page writes one page of HTML that needs nothing beside itself.
func Page(w io.Writer, from Origin, measured []workload.Measured) error {
	p := page{Origin: from, Warnings: Warnings(measured), Kinds: []kindText{
		{"engine", "tallyring"},
		{"peer", "peers: modules that people use for the job"},
		{"baseline", "baselines: known designs, in their simplest form"},
		{"floor", "the floor"},
	}}
	for i, m := range measured {
		p.Sections = append(p.Sections, section{
			ID: fmt.Sprintf("w%d", i+1), Title: m.Title, About: m.About, Plots: plots(m),
			Notes: notes(m),
		})
	}
	for _, loss := range Losses(measured) {
		p.Losses = append(p.Losses, lossText{
			loss.Title, loss.Figure, loss.Unit, loss.Other, loss.Kind.String(),
			figure(loss.HisValue), figure(loss.OurValue), figure(loss.Times()), loss.IsClear,
		})
	}
	return pageTemplate.Execute(w, p)
}

// notes says of each contender what it is.
func notes(m workload.Measured) (list []noteText) {
	seen := map[string]bool{}
	for _, r := range m.Results {
		if seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		var said []string
		for _, part := range []string{r.Module, r.Note} {
			if part != "" {
				said = append(said, part)
			}
		}
		if r.Clock {
			said = append(said, "reads its clock on each decision")
		}
		if r.AllocsPerEvent > 0 {
			said = append(said, fmt.Sprintf("%s allocations, %s bytes a decision",
				figure(r.AllocsPerEvent), figure(r.BytesPerEvent)))
		}
		if len(said) > 0 {
			list = append(list, noteText{r.Name, strings.Join(said, "; ")})
		}
	}
	return list
}

// Warnings says what should keep a reader from trusting the figures.
func Warnings(measured []workload.Measured) (warnings []string) {
	for _, m := range measured {
		if !m.Apart {
			continue
		}
		alone := 0.0
		for _, r := range m.Results {
			if r.Name != m.Floor || r.Kind != contender.Floor {
				continue
			}
			nanos := workload.Median(r.Nanos)
			if r.Workers == 1 {
				alone = nanos
				continue
			}
			const least = 0.7 // of the speed-up that free processors would give
			if gained := alone / nanos; alone > 0 && gained < least*float64(r.Workers) {
				warnings = append(warnings, fmt.Sprintf("%s: the machine was busy. %d goroutines "+
					"of the floor, which share nothing, were %s times as fast as one: figures of "+
					"several goroutines say little.", m.Title, r.Workers, figure(gained)))
			}
		}
	}
	return warnings
}
