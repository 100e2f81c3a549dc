package tallyring

// PrefetchLines asks the processor to fetch lines[i] for writing, for each i of indexes, and does
// not wait for any. An index beyond lines costs a fetch for nothing. It does nothing where the
// build has no assembly. It is worth its call for a batch: some 16 to 64 lines that are written
// soon.
func PrefetchLines(lines []Line, indexes []uint64) {
	if len(lines) > 0 && len(indexes) > 0 {
		prefetchLines(&lines[0], &indexes[0], len(indexes))
	}
}
