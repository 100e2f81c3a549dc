package mix

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
	"github.com/tallyring/tallyring/slidinglog"
)

const (
	retries      = 10 // of one request that is denied
	retrySteps   = 20 // waits before a retry that fit a window, at most
	burstPace    = 10 // times the pace of the limit
	cycleWindows = 4  // from one strike of the adversary to the next
)

// day is about when the traffic begins: at the first turn of a window after it.
var day = time.Date(2026, time.January, 15, 0, 0, 0, 0, time.UTC)

// Events makes the requests. The names of the clients are their kind and a number.
func Events(p Params) (*replay.Events, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	w := tallyring.Tick(p.Window)
	start := tallyring.Tick(day.UnixNano())/w*w + w
	m := maker{
		Params: p, window: w, start: start, end: start + tallyring.Tick(p.Windows)*w,
		events: replay.NewEvents(replay.ByClient),
	}
	digits := len(fmt.Sprint(p.Clients))
	for _, kind := range p.Kinds {
		k := slices.Index(Kinds, kind)
		for client := range p.Clients {
			// A generator of its own for each client: fewer clients are the first of more.
			m.random = rand.New(rand.NewPCG(p.Seed, uint64(k)<<32|uint64(client)))
			m.client = fmt.Sprintf("%s-%0*d", kind, digits, client+1)
			if err := m.make(kind, client); err != nil {
				return nil, err
			}
		}
	}
	if m.events.Len() == 0 {
		return nil, fmt.Errorf("the mix holds no request, want more windows or a higher load")
	}
	m.events.Sort()
	return m.events, nil
}

// maker makes the requests of one client after the other.
type maker struct {
	Params
	window, start, end tallyring.Tick
	events             *replay.Events
	random             *rand.Rand
	client             string
}

func (m *maker) make(kind Kind, client int) error {
	switch kind {
	case "steady":
		return m.steady()
	case "bursty":
		return m.bursty()
	case "retrying":
		return m.retrying()
	}
	return m.adversary(client)
}

func (m *maker) request(at tallyring.Tick) error {
	return m.events.Add(at, m.client, "/", string(m.client))
}

// below draws a tick from 0 to most-1; 0 where most is 0.
func (m *maker) below(most tallyring.Tick) tallyring.Tick {
	return tallyring.Tick(m.random.Int64N(int64(max(most, 1))))
}

// meanGap draws the mean gap of a client: the load, times 0.5 to 1.5.
func (m *maker) meanGap() tallyring.Tick {
	percent := float64(50 + m.random.IntN(101))
	gap := float64(m.window) * 10_000 / (float64(m.Limit) * float64(m.Load) * percent)
	return max(tallyring.Tick(gap), 1)
}

func (m *maker) steady() error {
	mean := m.meanGap()
	for at := m.start + m.below(mean); at < m.end; at += max(mean/2+m.below(mean), 1) {
		if err := m.request(at); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) bursty() error {
	most := max(2*m.Limit*uint64(m.Load)/100, 1)
	gap := m.window / tallyring.Tick(m.Limit) / burstPace
	for at := m.start + m.below(m.window); at < m.end; at += m.below(2 * m.window) {
		for range 1 + m.random.Uint64N(most) {
			if at >= m.end {
				return nil
			}
			if err := m.request(at); err != nil {
				return err
			}
			at += m.below(2*gap + 1)
		}
	}
	return nil
}

// retrying asks the exact log what a client would be told.
func (m *maker) retrying() error {
	log, err := slidinglog.New(m.Window)
	if err != nil {
		return err
	}
	mean := m.meanGap()
	at := m.start + m.below(mean)
	for at < m.end {
		for try := 0; try <= retries && at < m.end; try++ {
			if err := m.request(at); err != nil {
				return err
			}
			if log.Allow(at, 1, m.Limit) {
				break
			}
			step := max(m.window/retrySteps, 1)
			at += step + m.below(step)
		}
		at += max(mean/2+m.below(mean), 1)
	}
	return nil
}

// cycles returns how often an adversary strikes, at least once.
func cycles(windows int) int { return max(windows/cycleWindows, 1) }

// adversary strikes at the turn of every fourth window, each client at turns of its own.
func (m *maker) adversary(client int) error {
	for cycle := range cycles(m.Windows) {
		turn := m.start + tallyring.Tick(cycle*cycleWindows+client%2)*m.window + m.window
		for _, at := range []tallyring.Tick{turn - 1, turn + m.window - 2} {
			for range m.Limit {
				if err := m.request(at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
