package lab

import (
	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// progressEvery is how many requests lie between two calls of Progress.
const progressEvery = 1 << 12

// Run measures every kind of the plan on the events, which must be sorted and not empty.
func Run(e *replay.Events, p Plan, progress replay.Progress) (Findings, error) {
	l, err := newLab(e, p)
	if err != nil {
		return Findings{}, err
	}
	index := l.events.Index()
	shown := 0
	for key := range l.events.Keys() {
		of := index.Of(key)
		l.ticks = l.events.AppendTicks(l.ticks[:0], of)
		if err := l.take(); err != nil {
			return Findings{}, err
		}
		l.busiest(key)
		if l.Requests-shown >= progressEvery && progress != nil {
			shown = l.Requests
			progress(shown, e.Len())
		}
	}
	for n := range l.Outcomes {
		o := &l.Outcomes[n]
		o.Open.MeanDifference = o.Open.sum / float64(l.Requests)
		if l.Over > 0 {
			o.Open.MeanOver = o.Open.sumOver / float64(l.Over)
		}
		if o.BytesPerKey, err = o.Kind.Bytes(p); err != nil {
			return Findings{}, err
		}
	}
	l.ticks = l.events.AppendTicks(l.ticks[:0], index.Of(l.busy))
	l.Course, err = l.course()
	return l.Findings, err
}

// lab is one run, at one key at a time.
type lab struct {
	Findings
	plan   Plan
	events *replay.Events
	lines  []replay.Timeline // of each kind
	scales []int64

	ticks  []tallyring.Tick // of the key
	counts []int            // the true counts at them
	exact  []bool           // what the exact log admits, in the closed loop
	kept   []tallyring.Tick // what a kind has admitted

	busy, peak int // the key with the highest true count so far, and that count
}

func newLab(e *replay.Events, p Plan) (*lab, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	l := &lab{plan: p}
	finest := int64(1)
	for _, k := range p.Kinds() {
		scale, err := replay.ScaleOf(k.Resolution, p.Window)
		if err != nil {
			return nil, err
		}
		l.scales, finest = append(l.scales, scale), max(finest, scale)
		l.Outcomes = append(l.Outcomes, Outcome{Kind: k})
	}
	l.events = replay.CloseGaps(e, p.Window, finest)
	for n := range l.Outcomes {
		line, err := replay.NewTimeline(l.events, p.Window, l.scales[n])
		if err != nil {
			return nil, err
		}
		l.lines = append(l.lines, line)
	}
	return l, nil
}

// take measures all kinds on the requests of one key.
func (l *lab) take() error {
	l.counts = trueCounts(l.counts[:0], l.ticks, l.plan.Window)
	l.Requests += len(l.ticks)
	l.Sources++
	over := 0
	for _, count := range l.counts {
		if l.over(count) {
			over++
		}
	}
	l.Over += over
	if over > 0 {
		l.SourcesOver++
	}
	for n := range l.Outcomes {
		if err := l.open(n, over > 0); err != nil {
			return err
		}
		if err := l.closed(n, over > 0); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) over(count int) bool { return uint64(count) > l.plan.Limit }

// window returns a fresh window of kind n that can hold all requests of the key.
func (l *lab) window(n int) (window, error) {
	return l.Outcomes[n].Kind.open(l.plan, l.scales[n], uint64(len(l.ticks)))
}
