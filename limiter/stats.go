package limiter

import "github.com/tallyring/tallyring"

// Stats is what a limiter holds now, and what has happened to it since New.
type Stats struct {
	Cells        uint64 // keys that the memory has room for
	Live         uint64 // keys that count something
	Expired      uint64 // keys that count nothing any more, whose cell another may take
	TakenOver    uint64 // cells that passed from one key to another
	Refused      uint64 // times that a key found no cell; an event asked or counted twice is two
	Farthest     uint64 // groups between the farthest live key and its home; 0 under WithLog
	Ahead        uint64 // ticks given that were more than one window ahead of the clock
	ShadowDenied uint64 // events that passed in shadow mode alone
	Waiting      int    // events in queues
	KeyLimits    int    // keys with a limit of their own
	HotKeys      int    // keys with a window of their own, not among the cells
	Bytes        int    // memory of the counts: constant, except under WithLog
}

// Stats visits every cell: it is for metrics, once in a while.
func (l *Limiter) Stats() Stats { return l.StatsAt(l.clock.Now()) }

// StatsAt is Stats at a tick of the caller's.
func (l *Limiter) StatsAt(now tallyring.Tick) Stats {
	s := Stats{Ahead: l.tooEarly.Load(), ShadowDenied: l.shadowDenied.Load(),
		Waiting: int(l.queues.waiting.Load()), KeyLimits: l.overrides.Size()}
	if l.table == nil {
		k := l.exact.logs.Stats(now)
		s.Cells, s.Live, s.Expired = uint64(k.Places), uint64(k.Live), uint64(k.Expired)
		s.TakenOver, s.Refused, s.Bytes = k.Reused, k.Refused, k.Bytes
		return s
	}
	t := l.table.Stats(now)
	s.Cells, s.Live, s.Expired = t.Cells, t.Live, t.Expired
	s.TakenOver, s.Refused, s.Farthest = t.TakenOver, t.Refused, t.Farthest
	s.Bytes = t.Bytes + l.hot.bytes()
	if l.hot != nil {
		s.HotKeys = len(l.hot.windows)
	}
	return s
}
