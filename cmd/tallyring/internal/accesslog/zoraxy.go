package accesslog

import "strings"

// readZoraxy reads the log of the Zoraxy proxy:
//
//	date time [time] [router:…] [origin:…] [client: client] [useragent: agent] method path status
func readZoraxy(_ *Parser, line string) (Record, error) {
	head, rest, ok := strings.Cut(line, "] [router:")
	if !ok {
		return Record{}, errOther
	}
	_, stamp, ok := strings.Cut(head, "[")
	if !ok {
		return Record{}, errOther
	}
	_, rest, ok = strings.Cut(rest, "] [client: ")
	if !ok {
		return Record{}, ErrNoRequest
	}
	client, rest, ok := strings.Cut(rest, "] [useragent: ")
	if !ok {
		return Record{}, ErrCut
	}
	end := strings.LastIndex(rest, "] ")
	if end < 0 {
		return Record{}, ErrCut
	}
	words := strings.Fields(rest[end+1:])
	if len(words) != 3 {
		return Record{}, ErrCut
	}
	tick, err := parseTick(datePlain, stamp)
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(client),
		Path:   cutQuery(words[1]),
		Agent:  rest[:end],
	}, nil
}
