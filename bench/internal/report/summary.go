package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/tallyring/tallyring/bench/internal/workload"
)

// parts names a part of a workload, for people.
func parts(workers int, variant string) (text string) {
	if workers > 1 {
		text += fmt.Sprintf(", %d goroutines", workers)
	}
	switch variant {
	case "flood=yes":
		text += ", flood"
	case "flood=no":
		text += ", no flood"
	}
	return text
}

// Summary writes a table of medians, and where the engine loses.
func Summary(w io.Writer, measured []workload.Measured) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range measured {
		fmt.Fprintf(table, "\n%s\tns\tx floor\tB/key\tallocs\n", m.Title)
		for _, r := range m.Results {
			fmt.Fprintf(table, "  %s%s\t%s\t%s\t%s\t%s\n", r.Name, parts(r.Workers, r.Variant),
				nanosText(r), optional(workload.Median(r.Ratios)), optional(r.ProcessPerKey),
				figure(r.AllocsPerEvent))
		}
	}
	fmt.Fprintf(table, "\nWhere we lose\tfigure\tours\tother\ttimes\n")
	for _, loss := range Losses(measured) {
		doubt := ""
		if !loss.IsClear {
			doubt = " (within the noise)"
		}
		fmt.Fprintf(table, "  %s\t%s %s\t%s %s\t%s %s\t%s%s\n", loss.Title, loss.Figure, loss.Unit,
			loss.Ours, figure(loss.OurValue), loss.Other, figure(loss.HisValue),
			figure(loss.Times()), doubt)
	}
	table.Flush()
	for _, warning := range Warnings(measured) {
		fmt.Fprintf(w, "\n%s\n", warning)
	}
}

// nanosText is the time of a result: its median, or its percentiles.
func nanosText(r workload.Result) string {
	if r.Latency == nil {
		return figure(workload.Median(r.Nanos))
	}
	return fmt.Sprintf("p50 %s p99 %s p99.9 %s", figure(r.Latency.P50), figure(r.Latency.P99),
		figure(r.Latency.P999))
}

// optional is figure, or a dash where there is none.
func optional(x float64) string {
	if x > 0 {
		return figure(x)
	}
	return "-"
}
