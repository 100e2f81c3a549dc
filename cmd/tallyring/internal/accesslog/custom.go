package accesslog

import "strings"

// readCustom reads what is left of the formats that servers let their users define: a line with a
// bracketed time, an address as a word, quoted or not, and a protocol. The client is the first
// address of the line. This is the least certain of the readers, and the last to be asked.
func readCustom(p *Parser, line string) (Record, error) {
	_, stamp, _, ok := cutStamp(line)
	if !ok || !strings.Contains(line, "HTTP/") {
		return Record{}, errOther
	}
	client, ok := firstAddress(line)
	if !ok {
		return Record{}, errOther
	}
	tick, err := p.stamp.parse(stamp)
	if err != nil {
		return Record{}, err
	}
	return Record{Tick: tick, Client: client, Path: customPath(line)}, nil
}

// firstAddress returns the first word of the line that is an address.
func firstAddress(line string) (string, bool) {
	for line != "" {
		var word string
		word, line, _ = strings.Cut(line, " ")
		if isAddress(word) {
			return strings.Trim(word, `[]",`), true
		}
	}
	return "", false
}

// customPath returns the word before the first protocol, if that word is a path.
func customPath(line string) string {
	before, _, _ := strings.Cut(line, " HTTP/")
	word := before[strings.LastIndexByte(before, ' ')+1:]
	if strings.HasPrefix(word, "/") || strings.Contains(word, "://") {
		return cutQuery(word)
	}
	return ""
}
