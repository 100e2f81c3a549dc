package accesslog

import (
	"strings"
	"time"
)

// w3cLayout is what the directives of a W3C Extended log have said so far.
type w3cLayout struct {
	declared                    bool // a #Fields directive has named the columns
	date, clock                 int  // columns, -1 where there is none
	client, path, agent, method int
	day                         string         // of the #Date directive, for logs without a date
	zone                        *time.Location // of the #GMT-Offset directive; nil is UTC
}

// directive takes a line if it is a directive, "#Name: value", and remembers what it says.
func (l *w3cLayout) directive(line string) bool {
	if !strings.HasPrefix(line, "#") {
		return false
	}
	name, value, ok := strings.Cut(line[1:], ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t\"") {
		return false
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(name) {
	case "fields":
		l.columns(strings.Fields(value))
	case "date", "start-date":
		day, _, _ := strings.Cut(value, " ")
		l.day = strings.Clone(day)
	case "gmt-offset":
		l.zone = nil
		if t, err := time.Parse("-0700", value); err == nil {
			_, offset := t.Zone()
			l.zone = time.FixedZone("", offset)
		}
	}
	return true
}

// columns takes the value of a #Fields directive.
func (l *w3cLayout) columns(names []string) {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[strings.ToLower(name)] = i
	}
	find := func(names ...string) int {
		for _, name := range names {
			if i, ok := at[name]; ok {
				return i
			}
		}
		return -1
	}
	l.declared = true
	l.date = find("date", "date-local")
	l.clock = find("time", "time-local")
	l.client = find("c-ip")
	l.path = find("cs-uri-stem", "cs-uri")
	l.agent = find("cs(user-agent)")
	l.method = find("cs-method")
}

// readW3C reads a row of a W3C Extended log by the columns that its header has declared. A log
// whose header declares no client has requests of NoClient.
func readW3C(p *Parser, line string) (Record, error) {
	l := &p.w3c
	if !l.declared {
		return Record{}, errOther
	}
	row := splitRow(line)
	column := func(i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return row[i]
	}
	clock, day := column(l.clock), l.day
	if l.date >= 0 {
		day = column(l.date)
	}
	zone := l.zone
	if zone == nil {
		zone = time.UTC
	}
	t, err := time.ParseInLocation(datePlain, day+" "+clock, zone)
	if err != nil {
		return Record{}, errOther
	}
	if l.path < 0 && l.method < 0 {
		return Record{}, ErrNoRequest
	}
	if max(l.client, l.path, l.method) >= len(row) {
		return Record{}, ErrCut
	}
	tick, err := tickOf(t)
	if err != nil {
		return Record{}, err
	}
	return Record{
		Tick:   tick,
		Client: cleanClient(column(l.client)),
		Path:   cutQuery(column(l.path)),
		Agent:  column(l.agent),
	}, nil
}

// splitRow splits at spaces and tabs. A field may be quoted, and a quote inside is then doubled.
func splitRow(line string) []string {
	var row []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return row
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		field := line[:end]
		if line[0] == '"' {
			field, end = quotedCell(line)
		}
		row, line = append(row, field), line[end:]
	}
}

// quotedCell returns the text of the quoted field at the front of s, and where the field ends.
func quotedCell(s string) (text string, end int) {
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(s[1:i], `""`, `"`), i + 1
	}
	return s[1:], len(s)
}
