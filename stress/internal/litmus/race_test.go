package litmus

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/stress/internal/crowd"
)

// outcome is one way in which a race may end.
type outcome struct {
	says string // the answers of the moves and of the rest, as the race writes them
	when string // the interleaving that yields it
}

// race is a race of a few moves on something new.
type race struct {
	name     string
	demanded []outcome // permitted, and the race fails unless each appears
	rare     []outcome // permitted: it takes a goroutine that is stopped within a few nanoseconds
	start    func(t testing.TB) contest
}

func newRace(name string, demanded []outcome, start func(t testing.TB) contest) race {
	return race{name: name, demanded: demanded, start: start}
}

// rarely permits more outcomes.
func (r race) rarely(more []outcome) race {
	r.rare = append(r.rare, more...)
	return r
}

// permitted returns all outcomes.
func (r race) permitted() []outcome { return slices.Concat(r.demanded, r.rare) }

// contest is one run of a race: its moves, each made once by a goroutine of its own, and then the
// rest, which looks at what is counted.
type contest struct {
	moves []func() string
	rest  func() string
}

const (
	// batch is how many contests are run at once, and passes how often all settings are gone
	// through while an outcome is missing that should appear.
	batch  = 200
	passes = 1000

	changing = 0 // a setting of GOMAXPROCS that changes all the while
)

var settings = []int{1, 2, 4, 16, changing}

// least is how many passes there are at least. Under the race detector each takes longer.
func least() int {
	if tallyring.PairLockFree() {
		return 8
	}
	return 1
}

// run runs the race until every outcome has appeared that should.
func (r race) run(t *testing.T) {
	fault, report := r.play(t, passes)
	t.Log(report)
	require.Empty(t, fault, report)
}

// play goes through the settings until every outcome has appeared that should, and says what is
// wrong, if anything, and how often each outcome appeared.
func (r race) play(t testing.TB, passes int) (fault, report string) {
	seen := map[string]int{}
	contests := 0
	rng := rand.New(rand.NewPCG(7, 11))
	for pass := 0; pass < passes && (pass < least() || len(r.missing(seen)) > 0); pass++ {
		for _, setting := range settings {
			under(setting, func() {
				for _, says := range r.batch(t, rng) {
					seen[says]++
				}
			})
			contests += batch
		}
	}
	report = fmt.Sprintf("%s: %d contests\n%s", r.name, contests, r.list(seen))
	for says := range seen {
		if !r.permits(says) {
			return "it ended in a way that is not permitted: " + says, report
		}
	}
	if missing := r.missing(seen); len(missing) > 0 {
		return "it never ended so: " + strings.Join(missing, "; "), report
	}
	return "", report
}

// batch runs contests at once and returns how they ended.
func (r race) batch(t testing.TB, rng *rand.Rand) []string {
	contests := make([]contest, batch)
	apart := make([][4]int, batch)
	says := make([][4]string, batch)
	for i := range contests {
		contests[i] = r.start(t)
		if rng.IntN(2) == 0 {
			apart[i][rng.IntN(len(contests[i].moves))] = rng.IntN(150)
		}
	}
	crowd.Meet(len(contests[0].moves), batch, func(member, round int) {
		spin(apart[round][member])
		says[round][member] = contests[round].moves[member]()
	})
	ended := make([]string, batch)
	for i, c := range contests {
		all := append(says[i][:len(c.moves):len(c.moves)], c.rest())
		ended[i] = strings.Join(all, " | ")
	}
	return ended
}

// idle is what goroutines look at to lose a little time.
var idle atomic.Int64

func spin(looks int) {
	for range looks {
		idle.Load()
	}
}

// dawdle lets the other moves in between two steps of one.
func dawdle() {
	runtime.Gosched()
	spin(100)
}

// missing returns the outcomes that have not appeared and should.
func (r race) missing(seen map[string]int) []string {
	var missing []string
	for _, o := range r.demanded {
		if seen[o.says] == 0 {
			missing = append(missing, o.says)
		}
	}
	return missing
}

// permits tells whether an outcome is listed.
func (r race) permits(says string) bool {
	return slices.ContainsFunc(r.permitted(), func(o outcome) bool { return o.says == says })
}

// list writes each outcome with how often it appeared.
func (r race) list(seen map[string]int) string {
	var text strings.Builder
	for _, o := range r.permitted() {
		fmt.Fprintf(&text, "%8d  %s   (%s)\n", seen[o.says], o.says, o.when)
	}
	return text.String()
}

// under runs f under a setting of GOMAXPROCS, or while that changes.
func under(setting int, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(setting, 1)))
	if setting != changing {
		f()
		return
	}
	var done atomic.Bool
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; !done.Load(); i++ {
			runtime.GOMAXPROCS([]int{2, 16, 1, 4}[i%4])
			for range 20 {
				runtime.Gosched()
			}
		}
	}()
	f()
	done.Store(true)
	<-stopped
}

// verdict writes what an answer of Take says about one event.
func verdict(d tallyring.Decision) string {
	verb := "denied"
	if d.Allowed {
		verb = "admitted"
	}
	return verb + " at " + moment(d.At)
}

// moment names the ticks of the races.
func moment(tick tallyring.Tick) string {
	switch tick {
	case last:
		return "last"
	case end:
		return "end"
	case before:
		return "before"
	}
	return fmt.Sprint(tick)
}

// counts writes a reading's bounds.
func counts(r tallyring.Reading) string { return fmt.Sprintf("%d to %d", r.Low, r.High) }
