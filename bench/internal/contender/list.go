package contender

import "github.com/tallyring/tallyring"

// The modules that are measured, at the versions of go.mod; list_test.go compares.
const (
	moduleXTime     = "golang.org/x/time v0.16.0"
	moduleHTTPRate  = "github.com/go-chi/httprate v0.16.1"
	moduleGoLimiter = "github.com/sethvargo/go-limiter v0.7.1"
	moduleUlule     = "github.com/ulule/limiter/v3 v3.11.2"
	moduleThrottled = "github.com/throttled/throttled/v2 v2.15.0"
	moduleTollbooth = "github.com/didip/tollbooth/v7 v7.0.2"
	moduleSliding   = "github.com/RussellLuo/slidingwindow v0.0.0-20200528002341-535bb99d338b"
	moduleFailsafe  = "github.com/failsafe-go/failsafe-go v0.9.8"
	moduleJuju      = "github.com/juju/ratelimit v1.0.2"
	moduleUber      = "go.uber.org/ratelimit v0.3.1"
)

const inMap = "in a map with a mutex, as its users write it"

// Ring returns the engine's ring of the given number of slots.
func Ring(slots int) SingleMaker {
	return SingleMaker{Info: Info{Name: "tallyring", Note: "atomicring"},
		Make: func(limit Limit) (Single, error) { return newRing(slots, limit) }}
}

// Spread returns the engine's limit that is spread over processors.
func Spread() SingleMaker {
	return SingleMaker{Make: newSpread,
		Info: Info{Name: "tallyring-pertcore", Note: "one limit over all processors"}}
}

// Singles returns the peers and baselines for one limit; those that need a key are given one.
func Singles() []SingleMaker {
	list := []SingleMaker{
		{Info: Info{Name: "x-time-rate", Module: moduleXTime, Kind: Peer}, Make: newXTime},
		{Info: Info{Name: "slidingwindow", Module: moduleSliding, Kind: Peer},
			Make: newSlidingSingle, DeniesLate: true},
		{Info: Info{Name: "juju", Module: moduleJuju, Kind: Peer,
			Note: "through a clock that is set by hand"}, Make: newJuju,
			Serial: true},
		{Info: Info{Name: "uber", Module: moduleUber, Kind: Peer,
			Note: "paces, never denies; through a clock that is set by hand"}, Make: newUber,
			Polite: true, Serial: true},
		{Info: Info{Name: "failsafe-go", Module: moduleFailsafe, Kind: Peer, Clock: true},
			Make: newFailsafe},
		{Info: Info{Name: "one-word-gcra", Kind: Baseline, Note: "when the next event is due"},
			Make: newDueSingle, DeniesLate: true},
	}
	for _, keyed := range Keyeds() {
		if keyed.Module != "" && keyed.Note != inMap {
			single := withOneKey(keyed)
			single.Serial = keyed.Module == moduleThrottled
			list = append(list, single)
		}
	}
	return list
}

// Keyeds returns everything that takes keys as text: the engine, peers, baselines.
func Keyeds() []KeyedMaker {
	return []KeyedMaker{
		{Info{Name: "tallyring", Note: "time given"}, newTexts},
		{Info{Name: "tallyring-clock", Clock: true, Note: "with its default clock"},
			newClocked(tallyring.RelaxedCycle())},
		{Info{Name: "tallyring-monotonic", Clock: true, Note: "with the system's clock"},
			newClocked(tallyring.Monotonic())},
		{Info{Name: "x-time-rate", Module: moduleXTime, Kind: Peer, Note: inMap}, newXTimes},
		{Info{Name: "slidingwindow", Module: moduleSliding, Kind: Peer, Note: inMap}, newSlidings},
		{Info{Name: "httprate", Module: moduleHTTPRate, Kind: Peer,
			Note: "its counter: get, compare, increment"}, newHTTPRate},
		{Info{Name: "go-limiter", Module: moduleGoLimiter, Kind: Peer, Clock: true}, newGoLimiter},
		{Info{Name: "ulule", Module: moduleUlule, Kind: Peer, Clock: true}, newUlule},
		{Info{Name: "throttled", Module: moduleThrottled, Kind: Peer,
			Note: "memory store without eviction"}, newThrottled},
		{Info{Name: "tollbooth", Module: moduleTollbooth, Kind: Peer, Clock: true}, newTollbooth},
		{Info{Name: "syncmap-mutex", Kind: Baseline, Note: "sync.Map of token buckets"},
			newSyncMap},
		{Info{Name: "xsync-atomics", Kind: Baseline, Note: "xsync.MapOf of words"}, newXSync},
	}
}

// Hasheds returns what takes hashes: the engine one at a time and in batches, and baselines.
func Hasheds() []HashedMaker {
	return []HashedMaker{
		{Info{Name: "tallyring", Note: "one at a time"}, newHashes},
		{Info{Name: "tallyring-many", Note: "AllowMany, 256 keys a call"}, newBatches},
		{Info{Name: "packed-keyless", Kind: Baseline,
			Note: "one word per slot, no keys: keys that collide share a limit"}, newKeyless},
		{Info{Name: "xsync-atomics", Kind: Baseline, Note: "xsync.MapOf of words"}, newXSyncHashes},
	}
}

// oneKey lets a keyed contender decide on one key.
type oneKey struct {
	keyed Keyed
	keys  []string // the same key over and over
}

func withOneKey(k KeyedMaker) SingleMaker {
	return SingleMaker{Info: k.Info, Make: func(limit Limit) (Single, error) {
		keyed, err := k.Make(1, limit)
		keys := make([]string, 256)
		for i := range keys {
			keys[i] = "client-1"
		}
		return oneKey{keyed, keys}, err
	}}
}

func (o oneKey) Decide(e Events) (allowed int) {
	for done := 0; done < e.Count; {
		n := min(e.Count-done, len(o.keys))
		allowed += o.keyed.Decide(o.keys[:n], e.From+tallyring.Tick(done)*e.Step)
		done += n
	}
	return allowed
}

// Close closes the contender where it wants that.
func (o oneKey) Close() error { return Close(o.keyed) }

// Close ends what a contender runs in the background, if anything.
func Close(c any) error {
	if closer, ok := c.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}
