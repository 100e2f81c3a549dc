package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// slowMedian is the only bound on time that a run asserts, and a very loose one: half of the
// decisions of a structure must take less. A decision takes some ten or hundred nanoseconds, up to
// some ten thousand where a build of the race detector searches a full table in vain; and a run
// shares its machine with others, which may stop it for any time. So the slowest decisions say more
// of the machine than of the engine. But where most decisions waited until another goroutine was
// scheduled, the median would be near a slice of a scheduler, which is milliseconds, and nothing
// here ought to wait so often.
const slowMedian = 500 * time.Microsecond

// sums returns what all workers have done to all structures.
func (s *soak) sums() *tally {
	sum := newTally()
	for _, name := range s.builder.names {
		sum.add(s.builder.desks[name].sum())
	}
	return sum
}

// sum returns what all workers have done to one structure.
func (d *desk) sum() *tally {
	sum := newTally()
	for _, t := range d.tallies {
		sum.add(t)
	}
	return sum
}

// happened lists what has happened so far.
func (s *soak) happened() []happening {
	var sum evidence
	for _, name := range s.builder.names {
		sum.add(s.builder.desks[name].evidence)
	}
	flips := uint64(0)
	for _, w := range s.workers {
		flips += w.flips
	}
	return events(sum, s.sums(), flips)
}

// quickEnough checks the median of each structure.
func (s *soak) quickEnough() error {
	for _, name := range s.builder.names {
		median := s.builder.desks[name].sum().latency.ValueAtQuantile(50)
		if median > slowMedian.Nanoseconds() {
			return fmt.Errorf("%s: half of the decisions took %d ns or more, want less than %v",
				name, median, slowMedian)
		}
	}
	return nil
}

// report prints what was done and found; wrong is what ended the run, if anything did.
func (s *soak) report(out io.Writer, wrong error) error {
	var text strings.Builder
	elapsed, sum := s.watch.elapsed(), s.sums()
	fmt.Fprintf(&text, "%s\n%s %s/%s, %d processors, %s\n", s.command, runtime.Version(),
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor())
	fmt.Fprintf(&text, "seed %d, %d goroutines, %d rounds in %d epochs, %v", s.seed, s.goroutines,
		s.rounds, s.epochs, elapsed.Round(time.Millisecond))
	if s.interrupted {
		fmt.Fprintf(&text, ", interrupted")
	}
	fmt.Fprintf(&text, "\n\n")
	s.table(&text, wrong)
	fmt.Fprintf(&text, "\n%d decisions, %.1f million a second; %d admitted, %d denied; "+
		"%d adds, %d refunds, %d readings\n", sum.decisions,
		float64(sum.decisions)/elapsed.Seconds()/1e6, sum.admitted, sum.decisions-sum.admitted,
		sum.adds, sum.refunds, sum.reads)
	fmt.Fprintf(&text, "one decision or add in %d is timed, with the %d ns that reading the clock "+
		"takes\n", sampleEvery, s.clockNanos())
	fmt.Fprintf(&text, "heap after collection: %.1f MiB at most, where the structures said %.1f\n",
		float64(s.heap.highest)/(1<<20), float64(s.heap.said)/(1<<20))
	fmt.Fprintf(&text, "goroutines at rest: %d, as before\n\n", s.goroutinesBefore)
	for _, kind := range s.happened() {
		fmt.Fprintf(&text, "%12d  %s\n", kind.times, kind.what)
	}
	if wrong == nil {
		fmt.Fprintf(&text, "\nnothing violated\n")
	} else {
		fmt.Fprintf(&text, "\nVIOLATED: %v\n", wrong)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// table prints a line for each structure.
func (s *soak) table(out io.Writer, wrong error) {
	wide := 0
	for _, name := range s.builder.names {
		wide = max(wide, len(name))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%-*s\tdecisions\tadmitted\tdenied\tadds\trounds\tviolations\t"+
		"p50 ns\tp99\tp99.9\tmax\tKiB\t\n",
		wide, "structure")
	bytes := map[string]int{}
	for _, l := range s.builder.loads {
		bytes[l.common().structure] = l.bytes()
	}
	for _, name := range s.builder.names {
		d := s.builder.desks[name]
		sum := d.sum()
		fmt.Fprintf(t, "%-*s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			wide, name,
			sum.decisions, sum.admitted, sum.decisions-sum.admitted, sum.adds, d.rounds,
			violations(name, wrong), sum.latency.ValueAtQuantile(50),
			sum.latency.ValueAtQuantile(99), sum.latency.ValueAtQuantile(99.9),
			sum.latency.Max(), bytes[name]>>10)
	}
	// What it writes to keeps everything, so it cannot fail.
	_ = t.Flush()
}

// clockNanos returns the shortest time between two readings of the clock that times decisions.
func (s *soak) clockNanos() int64 {
	shortest := int64(slowestNanos)
	for range 1000 {
		began := s.watch.nanos()
		shortest = min(shortest, s.watch.nanos()-began)
	}
	return shortest
}

// processor returns the name of the processor, where the system tells it.
func processor() string {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		name := regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`).FindSubmatch(text)
		if name != nil {
			return string(name[1])
		}
	}
	return "processor unknown"
}
