package lab

import "github.com/tallyring/tallyring"

// open counts every request of the key in a window of kind n, and asks after each whether its
// estimate is over the limit. Asking is an event of cost 0: the engine's own rule, in integers.
func (l *lab) open(n int, sourceOver bool) error {
	w, err := l.window(n)
	if err != nil || !w.hasEstimate {
		return err
	}
	out := &l.Outcomes[n]
	out.HasOpen = true
	said := false
	for i, tick := range l.ticks {
		now := l.lines[n].At(tick)
		w.counter.Add(now, 1)
		within := w.counter.Allow(now, 0, l.plan.Limit)
		said = said || !within
		over := l.over(l.counts[i])
		out.Open.count(within, !over)
		out.Open.add(w.estimate(now), l.counts[i], over)
	}
	out.Open.judge(said, sourceOver)
	return nil
}

// closed lets a window of kind n decide about the requests of the key. Kind 0 is the exact log,
// whose decisions are those that the others should have taken.
func (l *lab) closed(n int, sourceOver bool) error {
	w, err := l.window(n)
	if err != nil {
		return err
	}
	out := &l.Outcomes[n].Closed
	if n == 0 {
		l.exact = append(l.exact[:0], make([]bool, len(l.ticks))...)
	}
	l.kept = l.kept[:0]
	for i, tick := range l.ticks {
		admitted := w.counter.Allow(l.lines[n].At(tick), 1, l.plan.Limit)
		if admitted {
			l.kept = append(l.kept, tick)
		}
		if n == 0 {
			l.exact[i] = admitted
		}
		out.count(admitted, l.exact[i])
	}
	denied := len(l.ticks) - len(l.kept)
	out.Denied += denied
	if n == 0 {
		l.Denied += denied
	}
	out.judge(denied > 0, sourceOver)
	out.WorstTrailing = max(out.WorstTrailing, l.worst(l.kept))
	return nil
}

// worst returns the most of the ascending ticks in any (t-W, t].
func (l *lab) worst(ticks []tallyring.Tick) (most int) {
	tail := 0
	for i, t := range ticks {
		for ticks[tail] <= t-tallyring.Tick(l.plan.Window) {
			tail++
		}
		most = max(most, i-tail+1)
	}
	return most
}
