package accesslog

import "strings"

// readNPM reads the two proxy-host logs of Nginx Proxy Manager and its relative NPMplus:
//
//	[time] … method scheme host "path" [Client client] [Length n] … "agent" "referer"
//	[time] host client seconds "request" status …
func readNPM(p *Parser, line string) (Record, error) {
	head, stamp, rest, ok := cutStamp(line)
	if !ok || head != "" {
		return Record{}, errOther
	}
	rec := Record{}
	if before, after, ok := strings.Cut(rest, "[Client "); ok {
		client, after, ok := strings.Cut(after, "]")
		if !ok {
			return Record{}, ErrCut
		}
		rec.Client = cleanClient(client)
		rec.Path = cutQuery(quotedField(before, 0))
		rec.Agent = quotedField(after, 0)
	} else {
		before, after, ok := strings.Cut(rest, `"`)
		words := strings.Fields(before)
		if !ok || len(words) != 3 {
			return Record{}, errOther
		}
		request, _, ok := cutRequest(`"` + after)
		if !ok {
			return Record{}, ErrCut
		}
		rec.Client = cleanClient(words[1])
		rec.Path = pathOf(request)
	}
	tick, err := p.stamp.parse(stamp)
	if err != nil {
		return Record{}, err
	}
	rec.Tick = tick
	return rec, nil
}
