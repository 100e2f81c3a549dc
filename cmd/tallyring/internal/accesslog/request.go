package accesslog

import "strings"

// cutRequest takes `"request" status` off the front of s. A quote inside the request should be
// escaped but is not in every log, so the closing one is the first that a status follows.
func cutRequest(s string) (request, rest string, ok bool) {
	for _, escapes := range [2]bool{true, false} {
		for i := 1; i < len(s); i++ {
			switch {
			case escapes && s[i] == '\\':
				i++
			case s[i] == '"' && startsWithStatus(s[i+1:]):
				return s[1:i], s[i+1:], true
			}
		}
	}
	return "", "", false
}

// startsWithStatus tells whether s begins with a space and a status: three digits, or "-".
func startsWithStatus(s string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(s[:min(len(s), 16)], " "), " ")
	return s != "" && s[0] == ' ' && (word == "-" || len(word) == 3 && allDigits(word))
}

// pathOf returns the target of a request line without its query, or the whole text where that is
// not a request line.
func pathOf(request string) string {
	method, target, ok := strings.Cut(request, " ")
	if !ok || !isMethod(method) {
		return request
	}
	if i := strings.LastIndex(target, " HTTP/"); i >= 0 {
		target = target[:i]
	}
	return cutQuery(target)
}

func isMethod(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return word != ""
}

func cutQuery(target string) string {
	path, _, _ := strings.Cut(target, "?")
	return path
}

// quotedField returns the text of the n-th quoted field of s, counted from 0, or nothing.
func quotedField(s string, n int) string {
	for {
		open := strings.IndexByte(s, '"')
		if open < 0 {
			return ""
		}
		s = s[open+1:]
		end := closingQuote(s)
		if end < 0 {
			return ""
		}
		if n == 0 {
			return s[:end]
		}
		s, n = s[end+1:], n-1
	}
}

// closingQuote returns the index of the first quote in s that no backslash escapes, or -1.
func closingQuote(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
