package replay

import "slices"

// keysPerBatch is how many keys have an engine at one time. Keys do not know of each other, so a
// log of millions of clients goes through an engine of this many after the other, each with
// the requests of its own keys in the order of time.
const keysPerBatch = 1 << 16

// batch is a run of keys, and their requests.
type batch struct {
	first  uint32   // key
	names  []string // of its keys, from first on
	events []uint32 // indexes, in the order of time
}

// batches cuts the keys into runs of at most so many. The requests of a run are the same stretch
// of the index as its keys; sorted, they are in the order of time.
func (e *Events) batches(index Index, most int) []batch {
	events := slices.Clone(index.at)
	var all []batch
	for first := 0; first < len(e.names); first += most {
		end := min(first+most, len(e.names))
		stretch := events[index.starts[first]:index.starts[end]]
		slices.Sort(stretch)
		all = append(all, batch{uint32(first), e.names[first:end], stretch})
	}
	return all
}
