package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns text of at most width characters (0 or more) that has no effect on a terminal
// but to be read: control characters, terminal sequences, marks that turn the direction of writing
// and bytes that are no UTF-8 are written as \x1b or \u202e. What is cut off leaves "…" behind.
func Escape(text string, width int) string {
	var b strings.Builder
	for left := width; text != ""; {
		r, size := utf8.DecodeRuneInString(text)
		piece := text[:size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, text[0])
		case !unicode.IsPrint(r):
			piece = escapeRune(r)
		}
		text = text[size:]
		n := utf8.RuneCountInString(piece)
		if n > left || n == left && text != "" {
			if width > 0 {
				b.WriteString("…")
			}
			break
		}
		b.WriteString(piece)
		left -= n
	}
	return b.String()
}

func escapeRune(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
