package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/lab"
)

// Table writes the findings for a person, at most 80 columns wide.
func (a *Accuracy) Table(w io.Writer) error {
	var b strings.Builder
	a.head(&b)
	f := &a.Findings
	fmt.Fprintf(&b, "  Open loop: every request is counted; %s over the limit.\n\n",
		are(f.Over, "request"))
	a.errors(&b, [2]string{"judged", "over"}, f.Over, func(o *lab.Outcome) (*lab.Errors, bool) {
		return &o.Open.Errors, o.HasOpen
	})
	fmt.Fprintf(&b, "  Closed loop: each scheme counts what it admits; the log denies %s.\n\n",
		plural(f.Denied, "request"))
	a.errors(&b, [2]string{"", "denied"}, f.Denied, func(o *lab.Outcome) (*lab.Errors, bool) {
		return &o.Closed.Errors, true
	})
	fmt.Fprintf(&b, "  Estimates, sources, the worst and the price; %s over the limit.\n\n",
		are(f.SourcesOver, "source"))
	a.estimates(&b)
	a.legend(&b)
	if len(a.Claims) > 0 {
		a.claims(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *Accuracy) head(b *strings.Builder) {
	const title = "accuracy on "
	fmt.Fprintf(b, "%s%s\n\n", title, Escape(a.Source, columns-len(title)))
	fmt.Fprintf(b, "  requests  %s, by %s\n", count(a.Findings.Requests),
		plural(a.Findings.Sources, keyNoun(a.Key)))
	fmt.Fprintf(b, "  time      %s, %s long\n", a.First.UTC().Format("2006-01-02 15:04:05 UTC"),
		short(a.Last.Sub(a.First).Round(time.Second)))
	fmt.Fprintf(b, "  limit     %s per %s for each %s\n\n",
		count64(a.Plan.Limit), short(a.Plan.Window), keyNoun(a.Key))
}

// are says "1 request is" or "2 requests are".
func are(n int, noun string) string {
	if n == 1 {
		return plural(n, noun) + " is"
	}
	return plural(n, noun) + " are"
}

// errors writes a table of wrong decisions; first heads the column of all that are decided against.
func (a *Accuracy) errors(
	b *strings.Builder, first [2]string, over int, of func(*lab.Outcome) (*lab.Errors, bool),
) {
	const form = "  %-8s %6s %8s %8s %8s %8s %8s %8s %8s\n"
	fmt.Fprintf(b, form, "", "", first[0], "wrong", "per", "per over", "wrong", "per", "per over")
	fmt.Fprintf(b, form, "scheme", "slots", first[1], "allow", "request", "limit", "deny",
		"request", "limit")
	for i := range a.Findings.Outcomes {
		o := &a.Findings.Outcomes[i]
		e, ok := of(o)
		if !ok {
			fmt.Fprintf(b, form, o.Name, slotsText(o.Kind), "-", "-", "-", "-", "-", "-", "-")
			continue
		}
		fmt.Fprintf(b, form, o.Name, slotsText(o.Kind), count(over-e.WrongAllow+e.WrongDeny),
			count(e.WrongAllow), part(e.WrongAllow, a.Findings.Requests), part(e.WrongAllow, over),
			count(e.WrongDeny), part(e.WrongDeny, a.Findings.Requests), part(e.WrongDeny, over))
	}
	b.WriteString("\n")
}

// estimates writes what is not a share of the requests.
func (a *Accuracy) estimates(b *strings.Builder) {
	const form = "  %-8s %6s %8s %8s %8s %8s %7s %8s %6s\n"
	fmt.Fprintf(b, form, "", "", "mean", "largest", "largest", "sources", "sources", "worst",
		"bytes")
	fmt.Fprintf(b, form, "scheme", "slots", "differ.", "above", "below", "missed", "accused",
		"trailing", "/ key")
	for i := range a.Findings.Outcomes {
		o := &a.Findings.Outcomes[i]
		mean, above, below, missed, accused := "-", "-", "-", "-", "-"
		if o.HasOpen {
			mean, above = percent(o.Open.MeanDifference), percent(o.Open.LargestAbove)
			below = percent(o.Open.LargestBelow)
			missed, accused = count(o.Open.Missed), count(o.Open.Accused)
		}
		worst := fmt.Sprintf("%.2fx", float64(o.Closed.WorstTrailing)/float64(a.Plan.Limit))
		fmt.Fprintf(b, form, o.Name, slotsText(o.Kind), mean, above, below, missed, accused, worst,
			bytesText(o.BytesPerKey))
	}
	b.WriteString("\n")
}

func (a *Accuracy) legend(b *strings.Builder) {
	noun := keyNoun(a.Key)
	wrap(b, fmt.Sprintf("A wrong allow is a request that is over the limit by the true count (in "+
		"the closed loop: that the log denies) and that the scheme admits; a wrong deny the "+
		"reverse. In the closed loop one decision that differs makes later ones differ too: look "+
		"at the denied as well. Differences are of the estimate from the true count, in percent "+
		"of it. A source is a %s: missed, if the scheme never finds it over the limit though it "+
		"is; accused, if it does and it never is. Worst trailing is the most admitted requests of "+
		"one %s in any %s, in limits. Bytes are those of the limiter's table; of the log, when "+
		"it is full.",
		noun, noun, short(a.Plan.Window)))
}

// claims writes what became of each claim of the source documents.
func (a *Accuracy) claims(b *strings.Builder) {
	b.WriteString("\n  Claims of the source documents\n")
	for n, c := range a.Claims {
		b.WriteString("\n")
		wrap(b, fmt.Sprintf("%d. %s (%s)", n+1, c.Text, c.From))
		wrapAs(b, "     run      ", c.Run)
		wrapAs(b, "     figure   ", c.Figure)
		wrapAs(b, "     verdict  ", string(c.Verdict)+": "+c.Because)
	}
}

// wrapAs writes text in lines that fit the table, the first behind a label and the others below it.
func wrapAs(b *strings.Builder, label, text string) {
	line := label
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > columns && line != label {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", len(label))
		}
		if strings.TrimSpace(line[min(len(line), len(label)):]) != "" {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}

// slotsText is what tells a kind from others of its name.
func slotsText(k lab.Kind) string {
	switch {
	case k.Epsilon > 0:
		return fmt.Sprintf("e=%g", k.Epsilon)
	case k.Slots() > 0:
		return count(k.Slots())
	}
	return "-"
}

// part writes a share in percent, to three digits.
func part(n, of int) string {
	switch {
	case of == 0:
		return "-"
	case n == 0:
		return "0"
	}
	return percent(float64(n) / float64(of))
}

// percent writes a number in percent, to three digits.
func percent(share float64) string {
	switch value := 100 * share; {
	case value == 0:
		return "0"
	case value >= 100:
		return count(int(value+0.5)) + "%"
	case value >= 10:
		return fmt.Sprintf("%.1f%%", value)
	case value >= 1:
		return fmt.Sprintf("%.2f%%", value)
	case value >= 0.1:
		return fmt.Sprintf("%.3f%%", value)
	case value >= 0.0001:
		return fmt.Sprintf("%.4f%%", value)
	default:
		return fmt.Sprintf("%.1e%%", value)
	}
}

func bytesText(n float64) string {
	if n >= 99.5 {
		return count(int(n + 0.5))
	}
	return fmt.Sprintf("%.1f", n)
}
