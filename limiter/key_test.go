package limiter_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
)

// TestFormsOfOneKeyAreOneKey counts on text, bytes and hash in turn, and finds one count.
func TestFormsOfOneKeyAreOneKey(t *testing.T) {
	l := kinds[1].build(t, 3)
	for _, key := range []string{"", "a", "a\x00", "\x00", "ключ", strings.Repeat("long", 10_000),
		"\xff\xfe", "a\nb"} {
		require.Equal(t, l.Key(key), l.KeyBytes([]byte(key)))
		require.True(t, l.AllowAt(key, start, 1))
		require.True(t, l.AllowKey(l.KeyBytes([]byte(key)), start, 1))
		require.True(t, l.TakeKey(l.Key(key), start, 1).Allowed)
		require.False(t, l.AllowAt(key, start, 1), "%.10q", key)
	}
	require.Equal(t, l.KeyBytes(nil), l.KeyBytes([]byte{}))
	other := kinds[2].build(t, 3)
	require.Equal(t, l.Key("a"), other.Key("a"), "a key is good for every limiter of the process")
}

// TestKeyBytesKeepsNothing changes the bytes of a key after the call.
func TestKeyBytesKeepsNothing(t *testing.T) {
	l := kinds[1].build(t, 1)
	key := []byte("abc")
	k := l.KeyBytes(key)
	key[0] = 'x'
	require.Equal(t, l.Key("abc"), k)
	require.NotEqual(t, l.Key("xbc"), k)
}

// TestPartsAreNotTheirJoin makes keys of parts whose concatenation is the same, with every cut and
// with empty parts, and finds all of them distinct.
func TestPartsAreNotTheirJoin(t *testing.T) {
	l := kinds[1].build(t, 1)
	seen := map[limiter.Key][]string{}
	for _, parts := range [][]string{
		{"a", "b_c"}, {"a_b", "c"}, {"a", "bc"}, {"ab", "c"}, {"abc"}, {"a", "b", "c"},
		{"", "abc"}, {"abc", ""}, {"", "", "abc"}, {"abc", "", ""}, {""}, {"", ""}, {"", "", ""},
		{"\x00"}, {"\x00", ""}, {"", "\x00"}, {"\x01", "a"}, {"\x01a"}, {"a\x01"},
	} {
		k := l.KeyParts(parts...)
		require.NotContains(t, seen, k, "%q", parts)
		require.Equal(t, k, l.KeyParts(parts...))
		seen[k] = parts
	}
}

// TestAddressesOfOneNetworkAreOneKey takes a thousand addresses of one /64, as one customer has.
func TestAddressesOfOneNetworkAreOneKey(t *testing.T) {
	l := kinds[1].build(t, 10)
	passed := 0
	for i := range 1000 {
		sixteen := netip.MustParseAddr("2001:db8:1:2::").As16()
		binary.BigEndian.PutUint64(sixteen[8:], uint64(i)*0x9e3779b97f4a7c15)
		if l.AllowKey(l.KeyAddr(netip.AddrFrom16(sixteen)), start, 1) {
			passed++
		}
	}
	require.Equal(t, 10, passed)
	require.True(t, l.AllowKey(l.KeyAddr(netip.MustParseAddr("2001:db8:1:3::")), start, 1))
	require.EqualValues(t, 2, l.StatsAt(start).Live)
}

// TestAnAddressIsOneKeyHoweverItIsWritten holds the forms of one address against each other: mapped
// into IPv6, with a zone, and not valid.
func TestAnAddressIsOneKeyHoweverItIsWritten(t *testing.T) {
	l := kinds[1].build(t, 1)
	key := func(text string) limiter.Key { return l.KeyAddr(netip.MustParseAddr(text)) }
	require.Equal(t, key("192.0.2.1"), key("::ffff:192.0.2.1"))
	require.NotEqual(t, key("::ffff:192.0.2.1"), key("::ffff:192.0.2.2"), "each its own")
	require.Equal(t, key("fe80::1"), key("fe80::1%eth0"))
	require.Equal(t, key("fe80::1%eth1"), key("fe80::1%eth0"))
	require.Equal(t, key("::ffff:192.0.2.1%eth0"), key("192.0.2.1"))
	require.Equal(t, l.KeyAddr(netip.Addr{}), l.KeyAddr(netip.Addr{}))
	for _, text := range []string{"0.0.0.0", "::", "::1", "127.0.0.1"} {
		require.NotEqual(t, l.KeyAddr(netip.Addr{}), key(text), text)
	}
	require.NotEqual(t, key("0.0.0.0"), key("::"))
	require.NotEqual(t, key("192.0.2.1"), l.Key("192.0.2.1"), "not the hash of its text")
	seen := map[limiter.Key]bool{}
	for i := range 1 << 16 {
		seen[l.KeyAddr(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}))] = true
	}
	require.Len(t, seen, 1<<16, "every IPv4 address is a key")
}

// TestIPv6PrefixDecidesWhichBitsCount flips every bit of an address, for every prefix: the key
// changes if and only if the bit is among the first.
func TestIPv6PrefixDecidesWhichBitsCount(t *testing.T) {
	base := netip.MustParseAddr("2001:db8:a5a5:5a5a:1234:5678:9abc:def0").As16()
	for bits := 1; bits <= 128; bits++ {
		l := kinds[1].build(t, 1, limiter.WithIPv6Prefix(bits), limiter.WithKeys(1))
		k := l.KeyAddr(netip.AddrFrom16(base))
		for bit := range 128 {
			flipped := base
			flipped[bit/8] ^= 0x80 >> (bit % 8)
			same := k == l.KeyAddr(netip.AddrFrom16(flipped))
			require.Equal(t, bit >= bits, same, "bit %d, prefix %d", bit, bits)
		}
		v4 := netip.MustParseAddr("192.0.2.1")
		require.NotEqual(t, l.KeyAddr(v4), l.KeyAddr(v4.Next()), "IPv4 is whole at any prefix")
	}
}

// TestManyKeysAreManyKeys makes a million keys of short and like texts, and finds no two equal. The
// chance of that failing is below 3e-8.
func TestManyKeysAreManyKeys(t *testing.T) {
	n := 1_000_000
	if hurried() {
		n = 100_000
	}
	l := kinds[1].build(t, 1)
	seen := make(map[limiter.Key]struct{}, n)
	for i := range n {
		seen[l.Key(fmt.Sprint(i))] = struct{}{}
	}
	require.Len(t, seen, n)
}

// TestNoFormOfKeyAllocates makes keys of every form, which then take a decision.
func TestNoFormOfKeyAllocates(t *testing.T) {
	l := kinds[1].build(t, 10)
	long, bytes := strings.Repeat("k", 300), []byte("bytes")
	zoned, v4 := netip.MustParseAddr("fe80::1%eth0"), netip.MustParseAddr("::ffff:192.0.2.1")
	parts := []string{"a", "b"}
	var sink limiter.Key
	for name, form := range map[string]func() limiter.Key{
		"text":          func() limiter.Key { return l.Key("text") },
		"long text":     func() limiter.Key { return l.Key(long) },
		"bytes as text": func() limiter.Key { return l.Key(string(bytes)) },
		"bytes":         func() limiter.Key { return l.KeyBytes(bytes) },
		"parts":         func() limiter.Key { return l.KeyParts("client", long, "route") },
		"more parts":    func() limiter.Key { return l.KeyParts(parts...) },
		"address":       func() limiter.Key { return l.KeyAddr(v4) },
		"zoned address": func() limiter.Key { return l.KeyAddr(zoned) },
		"no address":    func() limiter.Key { return l.KeyAddr(netip.Addr{}) },
	} {
		require.Zero(t, testing.AllocsPerRun(200, func() { sink ^= form() }), name)
		require.True(t, l.AllowKey(form(), start, 1), name)
	}
	require.Equal(t, tallyring.Reading{Low: 1, Estimate: 1, High: 1}, l.PeekAt("text", start))
}
