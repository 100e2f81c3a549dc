package exphist

// fields is a row of numbers of one width, side by side in words. A number may lie across two
// words, so that the row wastes no bits but those behind its last number.
type fields struct {
	words []uint64
	width uint // bits, 1 to 63
	mask  uint64
}

// wordsFor returns the number of words for count numbers of width bits.
func wordsFor(count int, width uint) int { return (count*int(width) + 63) / 64 }

// newFields takes the words for count numbers from the front of words, and returns the rest.
func newFields(words []uint64, count int, width uint) (f fields, rest []uint64) {
	n := wordsFor(count, width)
	return fields{words: words[:n:n], width: width, mask: 1<<width - 1}, words[n:]
}

// at returns number i.
func (f *fields) at(i int) uint64 {
	bit := uint(i) * f.width
	word, shift := bit/64, bit%64
	number := f.words[word] >> shift
	if shift+f.width > 64 {
		number |= f.words[word+1] << (64 - shift)
	}
	return number & f.mask
}

// set makes number i the low bits of number.
func (f *fields) set(i int, number uint64) {
	number &= f.mask
	bit := uint(i) * f.width
	word, shift := bit/64, bit%64
	f.words[word] = f.words[word]&^(f.mask<<shift) | number<<shift
	if shift+f.width > 64 {
		done := 64 - shift
		f.words[word+1] = f.words[word+1]&^(f.mask>>done) | number>>done
	}
}

// fill makes count numbers from number i on the low bits of number. It writes each word once.
func (f *fields) fill(i, count int, number uint64) {
	number &= f.mask
	bit := uint(i) * f.width
	word, shift := bit/64, bit%64
	filled := f.words[word] & (1<<shift - 1)
	for range count {
		filled |= number << shift
		if shift += f.width; shift >= 64 {
			f.words[word] = filled
			word++
			shift -= 64
			filled = number >> (f.width - shift)
		}
	}
	if shift > 0 {
		f.words[word] = f.words[word]>>shift<<shift | filled
	}
}
