package replay

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// KeyKind says what the requests are counted by.
type KeyKind int

// The kinds of keys.
const (
	ByClient KeyKind = iota
	ByPath
	ByAgent
	ByClientPath
	ByClientAgent
)

var keyNames = []string{"client", "path", "agent", "client+path", "client+agent"}

// String returns the name that ParseKeyKind takes.
func (k KeyKind) String() string { return keyNames[k] }

// ParseKeyKind returns the kind of a name.
func ParseKeyKind(name string) (KeyKind, error) {
	for k, known := range keyNames {
		if name == known {
			return KeyKind(k), nil
		}
	}
	return 0, fmt.Errorf("want one of %s", strings.Join(keyNames, ", "))
}

// appendKey appends the key of a request to b. Two parts are joined behind the length of the first,
// so that different pairs are different keys whatever they hold.
func (k KeyKind) appendKey(b []byte, client, path, agent string) []byte {
	switch k {
	case ByPath:
		return append(b, path...)
	case ByAgent:
		return append(b, agent...)
	case ByClientPath:
		return appendPair(b, client, path)
	case ByClientAgent:
		return appendPair(b, client, agent)
	}
	return append(b, client...)
}

func appendPair(b []byte, first, second string) []byte {
	b = binary.AppendUvarint(b, uint64(len(first)))
	b = append(b, first...)
	b = append(b, ' ')
	return append(b, second...)
}

// text returns the readable part of a key that appendKey has made.
func (k KeyKind) text(key string) string {
	if k != ByClientPath && k != ByClientAgent {
		return key
	}
	_, n := binary.Uvarint([]byte(key[:min(len(key), binary.MaxVarintLen64)]))
	return key[n:]
}
