package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tallyring/tallyring/bench/internal/workload"
)

// Package is the import path that stands in the text.
const Package = "github.com/tallyring/tallyring/bench"

// Text writes results in the Go benchmark format, one line for each round.
func Text(w io.Writer, from Origin, measured []workload.Measured) error {
	var b strings.Builder
	for _, pair := range [][2]string{
		{"goos", from.System}, {"goarch", from.Arch}, {"pkg", Package}, {"cpu", from.CPU},
		{"go", from.Go}, {"commit", from.Commit}, {"command", from.Command},
		{"processors", fmt.Sprint(from.Processors)},
	} {
		fmt.Fprintf(&b, "%s: %s\n", pair[0], oneLine(pair[1]))
	}
	b.WriteByte('\n')
	for _, m := range measured {
		for _, r := range m.Results {
			textResult(&b, m.Workload, r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// oneLine keeps a value from beginning a line of its own.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// name returns the name of a result in benchmark form.
func name(w workload.Workload, r workload.Result) string {
	name := "Benchmark" + w.Bench
	if r.Variant != "" {
		name += "/" + r.Variant
	}
	return fmt.Sprintf("%s/impl=%s-%d", name, r.Name, r.Workers)
}

func textResult(b *strings.Builder, w workload.Workload, r workload.Result) {
	for i, nanos := range r.Nanos {
		fmt.Fprintf(b, "%s\t%d", name(w, r), r.Events[i])
		if r.Latency != nil {
			fmt.Fprintf(b, "\t%s p99-ns", figure(nanos))
			if i == 0 {
				fmt.Fprintf(b, "\t%s p50-ns\t%s p99.9-ns", figure(r.Latency.P50),
					figure(r.Latency.P999))
			}
			b.WriteByte('\n')
			continue
		}
		fmt.Fprintf(b, "\t%s ns/op", figure(nanos))
		if i < len(r.Ratios) {
			fmt.Fprintf(b, "\t%s x-floor", figure(r.Ratios[i]))
		}
		if i < len(r.Added) {
			fmt.Fprintf(b, "\t%s added-ns/op", figure(r.Added[i]))
		}
		fmt.Fprintf(b, "\t%s B/op\t%s allocs/op", figure(r.BytesPerEvent),
			figure(r.AllocsPerEvent))
		if i == 0 && r.HeapPerKey > 0 {
			fmt.Fprintf(b, "\t%s heap-B/key", figure(r.HeapPerKey))
		}
		if i == 0 && r.ProcessPerKey > 0 {
			fmt.Fprintf(b, "\t%s process-B/key", figure(r.ProcessPerKey))
		}
		b.WriteByte('\n')
	}
}

// figure writes a number with three digits or more that count.
func figure(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0:
		return "-" + figure(-x)
	case x < 1:
		return fmt.Sprintf("%.3f", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
