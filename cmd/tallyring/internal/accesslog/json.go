package accesslog

import (
	"encoding/json"
	"strings"

	"github.com/tallyring/tallyring"
)

// fields are the members of a JSON object, each still as it is written.
type fields map[string]json.RawMessage

// jsonReaders are asked in this order, the formats with the least ambiguous names first.
var jsonReaders = []func(fields) (Record, error){
	readCaddy, readTraefik, readCloudflare, readEnvoy, readNginx,
}

// cutObject returns the part of a line that may be a JSON object: a log collector or a container
// engine may have put something before it, but nothing after it.
func cutObject(line string) (string, bool) {
	open := strings.IndexByte(line, '{')
	if open < 0 || line[len(line)-1] != '}' {
		return "", false
	}
	return line[open:], true
}

func (p *Parser) readJSON(object string, envelopes bool) (Record, error) {
	f, err := parseObject(object)
	if err != nil {
		return Record{}, errOther
	}
	for _, read := range jsonReaders {
		if rec, err := read(f); err != errOther {
			return rec, err
		}
	}
	if envelopes {
		return p.readEnvelope(f)
	}
	return Record{}, ErrNoRequest
}

// parseObject reads an object. nginx writes the bytes that it escapes as \xHH, unless it is told
// better, which is not JSON: such an object is repaired and read again.
func parseObject(object string) (fields, error) {
	var f fields
	err := json.Unmarshal([]byte(object), &f)
	if err != nil && strings.Contains(object, `\x`) {
		err = json.Unmarshal([]byte(repairEscapes(object)), &f)
	}
	return f, err
}

// repairEscapes writes \xHH as \u00HH.
func repairEscapes(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 64)
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		if s[i] != '\\' || i+1 == len(s) {
			continue
		}
		i++
		if s[i] == 'x' {
			b.WriteString("u00")
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// has tells whether the object has a member of this name.
func (f fields) has(name string) bool {
	_, ok := f[name]
	return ok
}

// text returns the first named member that is a string or a number and not empty.
func (f fields) text(names ...string) string {
	for _, name := range names {
		raw := f[name]
		if len(raw) == 0 {
			continue
		}
		switch c := raw[0]; {
		case c == '"':
			var s string
			if json.Unmarshal(raw, &s) == nil && s != "" {
				return s
			}
		case c == '-' || '0' <= c && c <= '9':
			return string(raw)
		}
	}
	return ""
}

// object returns the members of a member that is an object itself, or none.
func (f fields) object(name string) fields {
	var inner fields
	if json.Unmarshal(f[name], &inner) != nil {
		return nil
	}
	return inner
}

// header returns the first value of an HTTP header that is written as a list.
func (f fields) header(name string) string {
	var values []string
	if json.Unmarshal(f[name], &values) != nil || len(values) == 0 {
		return ""
	}
	return values[0]
}

// tick returns the time in the first named member that there is.
func (f fields) tick(names ...string) (tallyring.Tick, error) {
	return parseAnyTick(f.text(names...))
}
