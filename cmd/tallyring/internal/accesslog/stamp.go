package accesslog

import (
	"strings"
	"time"

	"github.com/tallyring/tallyring"
)

// The layouts of the times in access logs. Go's parser takes a fraction after the seconds, behind
// a point or a comma, whether or not the layout has one.
const (
	stampZone  = "02/Jan/2006:15:04:05 -0700"
	stampPlain = "02/Jan/2006:15:04:05"
	datePlain  = "2006-01-02 15:04:05"
	dateSlash  = "2006/01/02 15:04:05"
	isoCompact = "2006-01-02T15:04:05Z0700"
)

// textLayouts are tried in this order where a format leaves its times open.
var textLayouts = []string{
	time.RFC3339, stampZone, isoCompact, datePlain, dateSlash, "2006-01-02T15:04:05", stampPlain,
}

// tickOf converts a time that Unix nanoseconds can hold and that is not before 1970.
func tickOf(t time.Time) (tallyring.Tick, error) {
	if t.Year() > 2261 || t.Unix() < 0 {
		return 0, ErrTime
	}
	return tallyring.Tick(t.UnixNano()), nil
}

// parseTick reads a time of one layout; without a zone it is UTC.
func parseTick(layout, text string) (tallyring.Tick, error) {
	t, err := time.Parse(layout, text)
	if err != nil {
		return 0, ErrTime
	}
	return tickOf(t)
}

// parseAnyTick reads a time of any layout, or a number since 1970.
func parseAnyTick(text string) (tallyring.Tick, error) {
	if tick, err := parseEpoch(text); err == nil {
		return tick, nil
	}
	for _, layout := range textLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return tickOf(t)
		}
	}
	return 0, ErrTime
}

// stampCache keeps the last bracketed time, because most lines of a busy log repeat it.
type stampCache struct {
	text string
	tick tallyring.Tick
}

func (c *stampCache) parse(text string) (tallyring.Tick, error) {
	if text == c.text && text != "" {
		return c.tick, nil
	}
	layout := stampZone
	if strings.IndexByte(text, ' ') < 0 {
		layout = stampPlain
	}
	tick, err := parseTick(layout, text)
	if err != nil {
		return 0, err
	}
	c.text, c.tick = strings.Clone(text), tick
	return tick, nil
}

// cutStamp cuts a line at its first word that is a bracketed time, [02/Jan/2006:15:04:05 -0700].
func cutStamp(line string) (head, stamp, rest string, ok bool) {
	for from := 0; from < len(line); {
		open := strings.IndexByte(line[from:], '[')
		if open < 0 {
			return "", "", "", false
		}
		open += from
		from = open + 1
		if !looksLikeStamp(line[from:]) {
			continue
		}
		if end := strings.IndexByte(line[from:], ']'); end >= 0 {
			return line[:open], line[from : from+end], line[from+end+1:], true
		}
	}
	return "", "", "", false
}

func looksLikeStamp(s string) bool {
	return len(s) > len(stampPlain) && s[2] == '/' && s[6] == '/' && s[11] == ':' && s[14] == ':'
}
