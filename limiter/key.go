package limiter

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
)

// Key is the hash of a key, which any limiter of this process takes and no other process. Use it as
// it is; its value means nothing.
type Key uint64

// The seeds are drawn once per process, so that nobody outside can choose keys that collide: one
// for each form of key, so that no text is the same key as some address.
var (
	textSeed  = maphash.MakeSeed()
	partsSeed = maphash.MakeSeed()
	addrSeed  = maphash.MakeSeed()
)

// Key returns the hash of a key given as text. It does not allocate.
func (l *Limiter) Key(key string) Key { return hashText(key) }

func hashText(key string) Key { return Key(maphash.String(textSeed, key)) }

// KeyBytes returns the same hash as Key for the same bytes. It does not allocate or keep key.
func (l *Limiter) KeyBytes(key []byte) Key { return Key(maphash.Bytes(textSeed, key)) }

// KeyParts returns the hash of a key of several parts, such as a client and a route. ("a", "bc")
// and ("ab", "c") are different keys. It does not allocate.
func (l *Limiter) KeyParts(parts ...string) Key {
	var hash maphash.Hash
	hash.SetSeed(partsSeed)
	var length [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.WriteString(part)
	}
	return Key(hash.Sum64())
}

// KeyAddr returns the hash of a client's address. An IPv4 address mapped into IPv6 is the IPv4
// address; of an IPv6 address the leading bits that WithIPv6Prefix says count, without its zone.
// All addresses that are not valid are one key. It is not the hash of the address's text, and does
// not allocate.
func (l *Limiter) KeyAddr(addr netip.Addr) Key {
	addr = addr.Unmap()
	switch {
	case addr.Is4():
		four := addr.As4()
		return Key(maphash.Bytes(addrSeed, four[:]))
	case addr.Is6():
		sixteen := addr.As16()
		high := binary.BigEndian.Uint64(sixteen[:8]) & l.ipv6Mask[0]
		low := binary.BigEndian.Uint64(sixteen[8:]) & l.ipv6Mask[1]
		binary.BigEndian.PutUint64(sixteen[:8], high)
		binary.BigEndian.PutUint64(sixteen[8:], low)
		return Key(maphash.Bytes(addrSeed, sixteen[:]))
	}
	return Key(maphash.Bytes(addrSeed, nil))
}

// prefixMask returns the mask of the first bits of 128.
func prefixMask(bits int) [2]uint64 {
	high, low := min(bits, 64), max(bits-64, 0)
	return [2]uint64{^uint64(0) << (64 - high), ^uint64(0) << (64 - low)}
}
