package mix

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tallyring/tallyring"
)

// Kind is a kind of client.
type Kind string

// Kinds are all kinds, in the order in which they are made.
var Kinds = []Kind{"steady", "bursty", "retrying", "adversary"}

// ParseKinds reads a list of kinds such as "steady,bursty"; "all" is all of them.
func ParseKinds(list string) ([]Kind, error) {
	if list == "all" {
		return Kinds, nil
	}
	seen := map[Kind]bool{}
	for _, text := range strings.Split(list, ",") {
		kind := Kind(strings.TrimSpace(text))
		known := false
		for _, k := range Kinds {
			known = known || k == kind
		}
		switch {
		case !known:
			return nil, fmt.Errorf("mix %q is no kind of client, want all or a list of steady, "+
				"bursty, retrying and adversary", kind)
		case seen[kind]:
			return nil, fmt.Errorf("mix %q is there twice, want each kind once", kind)
		}
		seen[kind] = true
	}
	var kinds []Kind
	for _, kind := range Kinds {
		if seen[kind] {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// Params says what is made.
type Params struct {
	Kinds   []Kind
	Clients int // of each kind, 1 to MaxClients
	Windows int // how long it goes on, 1 or more
	Load    int // the mean requests of a client per window, in percent of the limit
	Seed    uint64
	Limit   uint64
	Window  time.Duration
}

// The bounds of what is made.
const (
	MaxClients  = 1_000_000
	MaxLoad     = 100_000
	MaxRequests = 20_000_000
)

// Validate returns nil, or an error that names the value that is wrong and what would be right.
func (p Params) Validate() error {
	switch {
	case len(p.Kinds) == 0:
		return fmt.Errorf("no kind of client, want one of steady, bursty, retrying, adversary")
	case p.Clients < 1 || p.Clients > MaxClients:
		return fmt.Errorf("%d clients of each kind, want 1 to %d", p.Clients, MaxClients)
	case p.Load < 1 || p.Load > MaxLoad:
		return fmt.Errorf("load %d %% of the limit, want 1 to %d", p.Load, MaxLoad)
	case p.Limit < 1 || p.Window < 1:
		return fmt.Errorf("%d per %v is no limit, want 1 or more per 1ns or more", p.Limit,
			p.Window)
	case p.Windows < 1 || int64(p.Windows) > int64(tallyring.MaxLength)/2/int64(p.Window):
		return fmt.Errorf("%d windows of %v, want 1 to %d", p.Windows, p.Window,
			int64(tallyring.MaxLength)/2/int64(p.Window))
	}
	if most := p.most(); most > MaxRequests {
		return fmt.Errorf("up to %.0f requests, want at most %d: lower the clients, the windows, "+
			"the load or the limit", most, MaxRequests)
	}
	return nil
}

// most returns how many requests can be made at most, about.
func (p Params) most() (sum float64) {
	mean := float64(p.Limit) * float64(p.Load) / 100 * float64(p.Windows)
	for _, kind := range p.Kinds {
		each := 1.5*mean + 1
		switch kind {
		case "bursty":
			each = 2*mean + float64(p.Windows)
		case "retrying":
			each = math.Min(each*(retries+1), each+float64(p.Windows)*2*retrySteps)
		case "adversary":
			each = 2 * float64(p.Limit) * float64(cycles(p.Windows))
		}
		sum += each * float64(p.Clients)
	}
	return sum
}
