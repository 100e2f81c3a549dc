package workload

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/bench/internal/contender"
)

// chunk is how many events share a tick.
const chunk = 4096

// Stream is the keys of events, in order. A run that reaches its end begins anew.
type Stream struct {
	Keys     []string
	Distinct []string
	pace     tallyring.Tick // from one chunk to the next
}

// newStream finds the distinct keys, and a pace at which the most frequent one spends no more than
// a quarter of Plenty in a window.
func newStream(keys []string) *Stream {
	counts := map[string]int{}
	s := &Stream{Keys: keys}
	most := 0
	for _, key := range keys {
		if counts[key]++; counts[key] == 1 {
			s.Distinct = append(s.Distinct, key)
		}
		most = max(most, counts[key])
	}
	perChunk := max(float64(most)/float64(len(keys))*chunk, 1)
	s.pace = tallyring.Tick(float64(contender.Span) * perChunk / float64(contender.Plenty/4))
	return s
}

// uniformKeys returns n keys, each once, in an order that no prefetcher guesses.
func uniformKeys(n int) *Stream {
	keys := make([]string, n)
	for i, k := range rand.New(rand.NewPCG(3, uint64(n))).Perm(n) {
		keys[i] = keyText(k)
	}
	return newStream(keys)
}

// keyText is a key as long as an address.
func keyText(k int) string { return "client-" + strconv.Itoa(10_000_000+k) }

// zipfKeys returns events of n keys whose frequency falls with their rank.
func zipfKeys(n, events int) *Stream {
	const exponent = 1.01
	random := rand.New(rand.NewPCG(5, uint64(n)))
	zipf := rand.NewZipf(random, exponent, 1, uint64(n-1))
	names := random.Perm(n) // so that frequent keys do not have the smallest numbers
	keys := make([]string, events)
	for i := range keys {
		keys[i] = keyText(names[zipf.Uint64()])
	}
	return newStream(keys)
}

// traceFolder is where key traces lie, seen from a folder of the repository or above.
func traceFolder() (string, error) {
	if data := os.Getenv("TALLYRING_DATA"); data != "" {
		return filepath.Join(data, "keys"), nil
	}
	at, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(at, "go.work")); missing == nil {
			return filepath.Join(at, "..", "shared", "data", "keys"), nil
		}
		if filepath.Dir(at) == at {
			return "", errors.New("no folder above holds go.work: set TALLYRING_DATA")
		}
		at = filepath.Dir(at)
	}
	return "", err
}

// traceKeys reads a trace: gzip of big-endian 32-bit numbers.
func traceKeys(name string) (*Stream, error) {
	folder, err := traceFolder()
	if err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	numbers, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(numbers) < 4 || len(numbers)%4 != 0 {
		return nil, fmt.Errorf("%s: %d bytes, want a multiple of 4", name, len(numbers))
	}
	keys := make([]string, len(numbers)/4)
	for i := range keys {
		keys[i] = keyText(int(binary.BigEndian.Uint32(numbers[4*i:])))
	}
	return newStream(keys), nil
}

// run lets a contender decide on events of the stream.
func (s *Stream) run(c contender.Keyed, first, events int) (allowed int) {
	for done := 0; done < events; {
		at := (first + done) % len(s.Keys)
		n := min(events-done, chunk-(first+done)%chunk, len(s.Keys)-at)
		now := contender.Start + tallyring.Tick((first+done)/chunk)*s.pace
		allowed += c.Decide(s.Keys[at:at+n], now)
		done += n
	}
	return allowed
}
