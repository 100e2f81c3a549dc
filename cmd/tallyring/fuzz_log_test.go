package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring/cmd/tallyring/internal/replay"
)

// FuzzLog reads any bytes as the command reads a log.
// Goal: no log makes the reader panic, and every line that is not empty is a request or skipped:
// one that is no request is complained of by number, unless it is a directive. Method: the lines
// are counted here without the code under test; what is compressed is unpacked by it, and has no
// such count.
func FuzzLog(f *testing.F) {
	half := line("192.0.2.1", "07")
	for _, log := range []string{
		"", "\n\r\n \n", half + half[:40], "\ufeff" + half + "\x16\x03\x01\n" + half,
		"#Fields: date time c-ip cs-uri\n2026-03-04 05:06:07 192.0.2.1 /\n#\nx\n",
		strings.ReplaceAll(half, "\n", "\r\n") + strings.Repeat("worse\n", 9),
		strings.Repeat("long ", 1000) + "\x00\n" + half, "\x1f\x8b\x08", "\x28\xb5\x2f\xfd",
		`{"remote_addr":"192.0.2.1","msec":1.5e9,"request":"\x16"}` + "\n{\n",
	} {
		f.Add([]byte(log))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		var messages bytes.Buffer
		c := collector{
			events: replay.NewEvents(replay.ByClient), complain: complainer{out: &messages},
		}
		_, err := c.readAll([]string{"-"}, bytes.NewReader(log))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		skipped := c.lines - c.parsed
		require.Equal(t, c.parsed, c.events.Len())
		require.Equal(t, min(c.complain.count, complaints),
			strings.Count(messages.String(), "\n"))
		require.LessOrEqual(t, c.complain.count, skipped)
		if bytes.HasPrefix(log, []byte{0x1f, 0x8b}) {
			return
		}
		lines, directives := 0, 0
		for _, text := range strings.Split(string(log), "\n") {
			if text = strings.TrimSpace(text); text != "" {
				lines++
			}
			if strings.Contains(text, "#") {
				directives++
			}
		}
		require.Equal(t, lines, c.lines)
		require.LessOrEqual(t, skipped-c.complain.count, directives, "skipped without a word")
	})
}
