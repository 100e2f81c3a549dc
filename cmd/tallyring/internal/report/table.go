package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/accesslog"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// columns is how wide the table may be.
const columns = 80

// Table writes the report for a person, at most 80 columns wide.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	r.head(&b)
	r.schemes(&b)
	r.legend(&b)
	r.hardest(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) head(b *strings.Builder) {
	fmt.Fprintf(b, "replay of %s\n\n", Escape(r.Source, columns-len("replay of ")))
	fmt.Fprintf(b, "  requests  %s of %s, by %s\n",
		count(r.Parsed), plural(r.Lines, "line"), plural(r.Keys, r.keyNoun()))
	span := r.Last.Sub(r.First)
	fmt.Fprintf(b, "  time      %s, %s long\n", r.First.UTC().Format("2006-01-02 15:04:05 UTC"),
		short(span.Round(time.Second)))
	fmt.Fprintf(b, "  limit     %s per %s for each %s\n\n",
		count64(r.Plan.Limit), short(r.Plan.Window), r.keyNoun())
}

// The columns of the schemes: name, slots, bucket, denied, share, wrong allow, wrong deny.
const schemeForm = "  %-7s %6s %8s %9s %7s %9s %9s  "

func (r *Report) schemes(b *strings.Builder) {
	window := short(r.Plan.Window)
	interval := "in " + window
	if len(interval) > len("worst trailing") {
		interval = "in any window"
	}
	width := 0 // of the worst trailing counts
	for _, o := range r.Result.Outcomes {
		width = max(width, len(count(o.WorstTrailing)))
	}
	fmt.Fprintf(b, schemeForm+"%s\n", "", "", "", "", "", "wrong", "wrong", "worst trailing")
	fmt.Fprintf(b, schemeForm+"%s\n",
		"scheme", "slots", "bucket", "denied", "share", "allow", "deny", interval)
	for _, o := range r.Result.Outcomes {
		slots, bucket := count(o.Slots()), window
		allow, deny := count(o.WrongAllow), count(o.WrongDeny)
		switch {
		case o.Name == "log":
			slots, bucket, allow, deny = "-", "-", "-", "-"
		case o.Resolution > 0:
			bucket = bucketWidth(o.Resolution, r.Plan.Window)
		}
		fmt.Fprintf(b, schemeForm+"%*s %.2fx\n", o.Name, slots, bucket,
			count(o.Denied), share(o.Denied, r.Parsed), allow, deny,
			width, count(o.WorstTrailing), float64(o.WorstTrailing)/float64(r.Plan.Limit))
	}
	b.WriteString("\n")
}

func (r *Report) legend(b *strings.Builder) {
	limit, window := count64(r.Plan.Limit), short(r.Plan.Window)
	text := fmt.Sprintf("The log is exact: at most %s in any %s. A wrong allow is a request that "+
		"it denied and the scheme admitted, a wrong deny the reverse. Worst trailing is the most "+
		"admitted requests of one %s in any %s, and how often that is the limit.",
		limit, window, r.keyNoun(), window)
	if best := closest(r.Result.Outcomes); best != nil {
		text += fmt.Sprintf(" Closest to the log: %s with %s, %s.", best.Name,
			plural(best.Slots(), "slot"), plural(best.WrongAllow+best.WrongDeny, "wrong decision"))
	}
	wrap(b, text)
	b.WriteString("\n")
}

// closest returns the scheme with the fewest wrong decisions, and the fewest slots among those; nil
// where there is no scheme beside the log.
func closest(outcomes []replay.Outcome) *replay.Outcome {
	var best *replay.Outcome
	fewest := math.MaxInt
	for i := range outcomes {
		o := &outcomes[i]
		wrong := o.WrongAllow + o.WrongDeny
		if o.Name == "log" || wrong > fewest {
			continue
		}
		if wrong < fewest || o.Slots() < best.Slots() {
			best, fewest = o, wrong
		}
	}
	return best
}

func (r *Report) hardest(b *strings.Builder) {
	if len(r.Result.Keys) == 0 {
		return
	}
	if r.Result.KeysDenied == 0 {
		wrap(b, fmt.Sprintf("No %s would be denied anything. The highest peaks:", r.keyNoun()))
	} else {
		wrap(b, fmt.Sprintf("Hit hardest, of %s that would be denied something:",
			plural(r.Result.KeysDenied, r.keyNoun())))
	}
	b.WriteString("\n")
	const form = "  %9s %9s %7s %9s  "
	fmt.Fprintf(b, form+"%s\n", "requests", "denied", "share", "peak", r.keyNoun())
	for _, k := range r.Result.Keys {
		row := fmt.Sprintf(form, count(k.Requests), count(k.Denied), share(k.Denied, k.Requests),
			count(k.Peak))
		fmt.Fprintf(b, "%s%s\n", row, Escape(r.keyText(k.Key), columns-len(row)))
	}
	b.WriteString("\n")
	wrap(b, fmt.Sprintf("Denied by the exact log; peak is the most requests in any %s.",
		short(r.Plan.Window)))
}

// wrap writes text in lines that fit the table, indented like it.
func wrap(b *strings.Builder, text string) {
	at := 0
	for _, word := range strings.Fields(text) {
		if at > 0 && at+1+len(word) > columns {
			b.WriteString("\n")
			at = 0
		}
		if at == 0 {
			b.WriteString(" ")
			at = 1
		}
		b.WriteString(" " + word)
		at += 1 + len(word)
	}
	b.WriteString("\n")
}

func (r *Report) keyNoun() string { return keyNoun(r.Key) }

// keyNoun is the name of what is counted by, in the singular.
func keyNoun(key string) string {
	if strings.Contains(key, "+") {
		return key + " pair"
	}
	return key
}

// keyText is how a key is shown.
func (r *Report) keyText(key string) string {
	switch {
	case key == accesslog.NoClient && r.Key == replay.ByClient.String():
		return "- (client not in the log)"
	case key == "":
		return "(none)"
	}
	return key
}

// bucketWidth names the width of a bucket, to four digits where it is no whole number of
// nanoseconds.
func bucketWidth(res replay.Resolution, window time.Duration) string {
	width := window / time.Duration(res)
	if width*time.Duration(res) == window {
		return short(width)
	}
	unit := time.Duration(1)
	for width/unit >= 10_000 {
		unit *= 10
	}
	return "~" + short(width.Round(unit))
}

// short writes a duration without the zeros at its end: 1m, not 1m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func share(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f%%", 100*float64(part)/float64(whole))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

func count(n int) string { return count64(uint64(n)) }

// count64 groups the digits of a number by threes.
func count64(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
