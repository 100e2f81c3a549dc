package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
	"github.com/tallyring/tallyring/bench/internal/floor"
	"github.com/tallyring/tallyring/limiter"
)

const floorLines = "floor-lines"

// linesPerKey is how many lines the engine's table has for each key at its usual load: four keys to
// a line, 72 % full.
const linesPerKey = 1 / (4 * 0.72)

func keysBench(n int) string { return "Keys/keys=" + strconv.Itoa(n) }

// keysSource is n keys given as text, each as frequent as any other.
func keysSource(n int) Source {
	return Source{keysBench(n), func() (Workload, error) {
		w := streamed(uniformKeys(n))
		w.Bench = keysBench(n)
		w.Title = people(n) + " keys, given as text"
		w.About = "One goroutine, keys in random order, each allowed. Hashing the key is " +
			"included; the time is given, except to those that read it themselves."
		w.Together = n <= 10_000
		if !w.Together {
			w.Keys = n
		}
		return w, nil
	}}
}

// spreadSource is the same on all processors at once.
func spreadSource(n int) Source {
	const bench = "KeysParallel/keys="
	return Source{bench + strconv.Itoa(n), func() (Workload, error) {
		w := streamed(uniformKeys(n))
		w.Bench = bench + strconv.Itoa(n)
		w.Title = people(n) + " keys on all processors"
		w.About = "Each of several goroutines decides on the same keys, each at another place in " +
			"the order. The figure is the time per decision of all together."
		w.Together, w.Workers = true, processors()
		return w, nil
	}}
}

func zipf(n int) (Workload, error) {
	w := streamed(zipfKeys(n, n))
	w.Bench = "Keys/stream=zipf"
	w.Title = "A few keys often, many seldom"
	w.About = "A Zipf stream (exponent 1.01) over " + people(n) + " keys, as most public traffic " +
		"is."
	return w, nil
}

func traced(trace struct{ name, file, about string }) (Workload, error) {
	stream, err := traceKeys(trace.file)
	if err != nil {
		return Workload{}, err
	}
	w := streamed(stream)
	w.Bench = "Keys/stream=" + trace.name
	w.Title = "A real trace: " + trace.name
	w.About = trace.about
	return w, nil
}

// streamed lets all contenders for text decide on a stream.
func streamed(s *Stream) Workload {
	w := Workload{Floor: floorLines}
	w.Entries = append(w.Entries, linesEntry(textHashes(s.Keys), len(s.Distinct)))
	for _, maker := range contender.Keyeds() {
		w.Entries = append(w.Entries, Entry{maker.Info, func() (Trial, error) {
			keyed, err := maker.Make(len(s.Distinct), contender.Plenty)
			if err != nil {
				return Trial{}, err
			}
			allowed := keyed.Decide(s.Distinct, contender.Start)
			if allowed != len(s.Distinct) {
				return Trial{}, fmt.Errorf("allowed %d of %d new keys", allowed, len(s.Distinct))
			}
			run := func(worker, first, events int) int {
				return s.run(keyed, first+worker*chunk*7, events)
			}
			return Trial{Run: run, Close: func() error { return contender.Close(keyed) }}, nil
		}})
	}
	return w
}

// textHashes returns a hash for each key, the same for the same key.
func textHashes(keys []string) []uint64 {
	known := map[string]uint64{}
	hashes := make([]uint64, len(keys))
	random := rand.New(rand.NewPCG(7, 7))
	for i, key := range keys {
		hash, ok := known[key]
		if !ok {
			hash = random.Uint64()
			known[key] = hash
		}
		hashes[i] = hash
	}
	return hashes
}

// linesEntry is the floor of keys: a compare-and-swap on the line of each.
func linesEntry(hashes []uint64, distinct int) Entry {
	return Entry{floorInfo(floorLines, "a compare-and-swap on the line that a hash picks"),
		func() (Trial, error) {
			lines := floor.NewLines(linesFor(distinct))
			run := func(worker, first, events int) int {
				return eachHash(hashes, first+worker*chunk*7, events, lines.CASUntilStored)
			}
			return Trial{Run: run}, nil
		}}
}

func linesFor(keys int) int { return max(int(float64(keys)*linesPerKey), 1) }

// eachHash hands the hashes of events to a function, in chunks, and adds up what it returns.
func eachHash[K ~uint64](hashes []K, first, events int, do func([]K) int) (sum int) {
	for done := 0; done < events; {
		at := (first + done) % len(hashes)
		n := min(events-done, chunk, len(hashes)-at)
		sum += do(hashes[at : at+n])
		done += n
	}
	return sum
}

func hashedBench(n int) string { return "Hashed/keys=" + strconv.Itoa(n) }

// hashedSource is n keys that were hashed before.
func hashedSource(n int) Source {
	return Source{hashedBench(n), func() (Workload, error) {
		hashes := randomHashes(n)
		keys := keysOf(hashes)
		w := Workload{
			Bench: hashedBench(n),
			Title: people(n) + " keys, hashed before",
			About: "One goroutine, keys in random order, each allowed, at ticks that are given: " +
				"what is left is the memory.",
			Floor: floorLines, Keys: n,
		}
		w.Entries = append(w.Entries, linesEntry(hashes, n), batchedLines(hashes))
		for _, maker := range contender.Hasheds() {
			w.Entries = append(w.Entries, Entry{maker.Info, func() (Trial, error) {
				return hashedTrial(maker, keys)
			}})
		}
		return w, nil
	}}
}

func batchedLines(hashes []uint64) Entry {
	return Entry{floorInfo("floor-lines-many", "the same, 32 lines fetched ahead"),
		func() (Trial, error) {
			lines := floor.NewLines(linesFor(len(hashes)))
			run := func(_, first, events int) int {
				return eachHash(hashes, first, events, lines.CASBatches)
			}
			return Trial{Run: run}, nil
		}}
}

func hashedTrial(maker contender.HashedMaker, keys []limiter.Key) (Trial, error) {
	hashed, err := maker.Make(len(keys), contender.Plenty)
	if err != nil {
		return Trial{}, err
	}
	if allowed := hashed.Decide(keys, contender.Start); allowed != len(keys) {
		return Trial{}, fmt.Errorf("allowed %d of %d new keys", allowed, len(keys))
	}
	run := func(_, first, events int) int {
		now := contender.Start + tallyring.Tick(first)
		return eachHash(keys, first, events, func(some []limiter.Key) int {
			return hashed.Decide(some, now)
		})
	}
	return Trial{Run: run}, nil
}

// randomHashes returns n different hashes.
func randomHashes(n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = mixed(uint64(i))
	}
	rand.New(rand.NewPCG(11, uint64(n))).Shuffle(n, func(i, j int) {
		hashes[i], hashes[j] = hashes[j], hashes[i]
	})
	return hashes
}

// keysOf returns hashes as keys of the engine.
func keysOf(hashes []uint64) []limiter.Key {
	keys := make([]limiter.Key, len(hashes))
	for i, hash := range hashes {
		keys[i] = limiter.Key(hash)
	}
	return keys
}

// mixed is the i-th number of the generator splitmix64, which repeats none.
func mixed(i uint64) uint64 {
	x := (i + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// people writes a number for people.
func people(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + " M"
	case n >= 1000 && n%1000 == 0:
		return strconv.Itoa(n/1000) + " k"
	}
	return strconv.Itoa(n)
}
