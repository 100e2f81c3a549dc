package accesslog

import (
	"net/netip"
	"strings"
)

// cleanClient takes the client out of a field: the first of a list, without port, brackets and
// quotes.
func cleanClient(field string) string {
	field, _, _ = strings.Cut(strings.Trim(field, `" `), ",")
	if strings.IndexByte(field, ':') >= 0 {
		if ap, err := netip.ParseAddrPort(field); err == nil {
			return ap.Addr().String()
		}
	}
	return strings.Trim(field, "[] ")
}

// cutPort takes the port off an address that a format always writes with one. The address may be
// a name, or NoClient.
func cutPort(field string) string {
	if i := strings.LastIndexByte(field, ':'); i > 0 {
		field = field[:i]
	}
	return strings.Trim(field, "[]")
}

func isAddress(word string) bool {
	_, err := netip.ParseAddr(strings.Trim(word, `[]",`))
	return err == nil
}

// clientBefore finds the client in what stands before the time of a Common log line: by the format
// "client ident user", but in practice a virtual host, a list of forwarded addresses or the prefix
// of a log collector may come first, ident may be missing, and user may be several words.
func clientBefore(words []string) string {
	at := clientIndex(words)
	for at > 0 && strings.HasSuffix(words[at-1], ",") {
		at--
	}
	return cleanClient(words[at])
}

func clientIndex(words []string) int {
	third := len(words) - 3
	if third == 0 {
		return 0
	}
	for i := len(words) - 2; i >= 0; i-- {
		if words[i+1] == "-" && isAddress(words[i]) {
			return i
		}
	}
	if third > 0 && words[third] != "-" {
		return third
	}
	for i := len(words) - 1; i >= 0; i-- {
		if isAddress(words[i]) {
			return i
		}
	}
	return 0
}
