package main

// span is a number of events that were counted somewhere in the buckets first to last, and a number
// that was taken back from there, which is known to be one bucket.
type span struct {
	first, last   int64
	counted, back uint64
}

// book is what one goroutine did to one window since the last rest. It belongs to that goroutine
// while others run, and to the account at rest.
type book struct {
	spans []span
}

// count notes events that were counted somewhere in the buckets first to last.
func (b *book) count(first, last int64, events uint64) {
	if events > 0 {
		b.find(first, last).counted += events
	}
}

// takeBack notes events that were taken back from a bucket.
func (b *book) takeBack(bucket int64, events uint64) {
	if events > 0 {
		b.find(bucket, bucket).back += events
	}
}

// find returns the entry of a span. The latest are the likeliest.
func (b *book) find(first, last int64) *span {
	for i := len(b.spans) - 1; i >= 0; i-- {
		if b.spans[i].first == first && b.spans[i].last == last {
			return &b.spans[i]
		}
	}
	b.spans = append(b.spans, span{first: first, last: last})
	return &b.spans[len(b.spans)-1]
}

// spanBytes is the memory of a span.
const spanBytes = 32

// bytes returns the memory of a book's entries.
func (b *book) bytes() int { return cap(b.spans) * spanBytes }

// merge adds up books and empties them. Into is reused.
func merge(into *book, books []*book) []span {
	into.spans = into.spans[:0]
	for _, b := range books {
		for _, s := range b.spans {
			sum := into.find(s.first, s.last)
			sum.counted += s.counted
			sum.back += s.back
		}
		b.spans = b.spans[:0]
	}
	return into.spans
}
