package limiter_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/table"
)

// craftedKeys is for how many keys the tables under attack are made, and how many texts are
// crafted against them.
const craftedKeys = 600

// craftedTable is a table for the keys of a limiter: it says where each of them lies.
func craftedTable(t *testing.T) *table.Table {
	t.Helper()
	made, err := table.New(table.Config{
		Window: tallyring.Window{Slots: 2, Width: window}, Keys: craftedKeys,
	})
	require.NoError(t, err)
	return made
}

// spreadOf counts once on each hash, and returns the mean number of groups between a key and its
// home, the greatest such distance, and how many keys found no cell. In the mean, all distances
// from 7 on count as 7.
func spreadOf(t *testing.T, hashes []uint64) (mean float64, farthest, refused uint64) {
	t.Helper()
	made := craftedTable(t)
	for _, hash := range hashes {
		made.Allow(hash, start, 1, 10)
	}
	s := made.Stats(start)
	sum := uint64(0)
	for distance, keys := range s.Probes {
		sum += uint64(distance) * keys
	}
	return float64(sum) / float64(s.Live), s.Farthest, s.Refused
}

// foundAtHome searches for texts whose hashes have one home in the crafted table: it computes what
// the table computes.
func foundAtHome(t *testing.T, hash func(text string) uint64) []string {
	t.Helper()
	groups := craftedTable(t).Stats(0).Cells / 4
	var texts []string
	for i := 0; len(texts) < craftedKeys; i++ {
		text := fmt.Sprintf("10.%d.%d", i>>16, i&0xffff)
		if home, _ := bits.Mul64(hash(text)*0x9e3779b97f4a7c15, groups); home == 3 {
			texts = append(texts, text)
		}
	}
	return texts
}

func fnvHash(text string) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(text))
	return hash.Sum64()
}

// crafted returns sets of texts that collide for somebody who does not know this process's seed:
// under a seed of another process, under a hash without one, and under common weak hashes; and
// texts that differ in little.
func crafted(t *testing.T, other maphash.Seed) map[string][]string {
	sets := map[string][]string{
		"another seed": foundAtHome(t, func(s string) uint64 { return maphash.String(other, s) }),
		"no seed":      foundAtHome(t, fnvHash),
	}
	add := func(name string, text func(i int) string) {
		for i := range craftedKeys {
			sets[name] = append(sets[name], text(i))
		}
	}
	add("31*h + c", func(i int) string { // two equal sums for each pair of letters
		var text strings.Builder
		for bit := range 11 {
			text.WriteString([]string{"Aa", "BB"}[i>>bit&1])
		}
		return text.String()
	})
	// The published constants of wyhash and rapidhash, which make a factor of theirs 0.
	add("constants", func(i int) string {
		constants := []uint64{0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3,
			0x589965cc75374cc3, 0x1d8e4e27c47d124f, 0x2d358dccaa6c78a5, 0x8bb84b93962eacc9}
		text := binary.LittleEndian.AppendUint64(nil, constants[i%len(constants)])
		text = binary.LittleEndian.AppendUint64(text, uint64(i))
		return string(append(text, make([]byte, 16)...))
	})
	add("zeros", func(i int) string { return strings.Repeat("\x00", i) })
	add("last bytes", func(i int) string {
		return strings.Repeat("k", 300) + string([]byte{byte(i >> 8), byte(i)})
	})
	add("first bytes", func(i int) string {
		return string([]byte{byte(i >> 8), byte(i)}) + strings.Repeat("k", 300)
	})
	add("one bit", func(i int) string {
		text := make([]byte, 256)
		text[i/8] = 1 << (i % 8)
		return string(text)
	})
	return sets
}

// TestCraftedTextsSpreadLikeRandomKeys holds sets of texts that collide for who does not know the
// seed against random hashes: none is refused, the mean distance from home is theirs within ten
// standard deviations, and the farthest little more than theirs. It is shown to tell: under the
// seed and the hash for which they were made, most of the same texts are refused.
func TestCraftedTextsSpreadLikeRandomKeys(t *testing.T) {
	other := maphash.MakeSeed()
	sum, squares, most := 0.0, 0.0, uint64(0)
	const samples = 40
	for range samples {
		hashes := make([]uint64, craftedKeys)
		for i := range hashes {
			hashes[i] = rand.Uint64()
		}
		mean, farthest, refused := spreadOf(t, hashes)
		require.Zero(t, refused)
		sum, squares, most = sum+mean, squares+mean*mean, max(most, farthest)
	}
	center := sum / samples
	deviation := math.Sqrt(squares/samples - center*center)
	l := kinds[1].build(t, 10, limiter.WithKeys(craftedKeys))
	hashed := func(texts []string, hash func(string) uint64) (hashes []uint64) {
		for _, text := range texts {
			hashes = append(hashes, hash(text))
		}
		return hashes
	}
	sets := crafted(t, other)
	for name, texts := range sets {
		for form, key := range map[string]func(string) limiter.Key{
			"text":  l.Key,
			"part":  func(s string) limiter.Key { return l.KeyParts(s) },
			"parts": func(s string) limiter.Key { return l.KeyParts("GET", s, "/") },
		} {
			mean, farthest, refused := spreadOf(t,
				hashed(texts, func(s string) uint64 { return uint64(key(s)) }))
			require.Zero(t, refused, "%s as %s", name, form)
			require.InDelta(t, center, mean, 10*deviation, "%s as %s", name, form)
			require.LessOrEqual(t, farthest, most+20, "%s as %s", name, form)
		}
	}
	for name, hash := range map[string]func(string) uint64{
		"another seed": func(s string) uint64 { return maphash.String(other, s) },
		"no seed":      fnvHash,
	} {
		mean, _, refused := spreadOf(t, hashed(sets[name], hash))
		require.Greater(t, refused, uint64(craftedKeys/2), "the texts do collide: %s", name)
		require.Greater(t, mean, center+10*deviation, name)
	}
	t.Logf("groups from home: mean %.3f, deviation %.3f, farthest %d", center, deviation, most)
}

// TestAddressesSpreadLikeRandomKeys takes what an attacker with a network has: neighbours, and
// IPv6 networks that differ in any part.
func TestAddressesSpreadLikeRandomKeys(t *testing.T) {
	l := kinds[1].build(t, 10, limiter.WithKeys(craftedKeys))
	for name, addr := range map[string]func(i int) netip.Addr{
		"IPv4": func(i int) netip.Addr {
			return netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)})
		},
		"mapped": func(i int) netip.Addr {
			return netip.AddrFrom16(netip.AddrFrom4(
				[4]byte{byte(i), byte(i >> 8), 1, 1}).As16())
		},
		"IPv6 networks": func(i int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 1, 0x0d, 0xb8, 0, 0, byte(i >> 8), byte(i)})
		},
		"IPv6 prefixes": func(i int) netip.Addr {
			return netip.AddrFrom16([16]byte{byte(i), byte(i >> 8), 0x0d, 0xb8, 15: byte(i)})
		},
	} {
		hashes := make([]uint64, craftedKeys)
		for i := range hashes {
			hashes[i] = uint64(l.KeyAddr(addr(i)))
		}
		mean, farthest, refused := spreadOf(t, hashes)
		require.Zero(t, refused, name)
		require.Less(t, mean, 0.6, "%s: random keys lie 0.2 groups from home", name)
		require.Less(t, farthest, uint64(40), name)
	}
}

// TestEachProcessHashesAnew runs this test's program again, and finds other hashes of the same keys
// in each run: what an attacker learns from one process helps against no other, or after a restart.
func TestEachProcessHashesAnew(t *testing.T) {
	const mark = "TALLYRING_PRINT_KEYS"
	l := kinds[1].build(t, 1)
	said := fmt.Sprint("keys", " ", uint64(l.Key("")), uint64(l.Key("a")),
		uint64(l.KeyParts("a")), uint64(l.KeyAddr(netip.Addr{})))
	if os.Getenv(mark) != "" {
		fmt.Println(said)
		return
	}
	seen := map[string]bool{}
	numbers := regexp.MustCompile(`\d+`)
	for _, number := range numbers.FindAllString(said, -1) {
		seen[number] = true
	}
	for range 3 {
		again := exec.Command(os.Args[0], "-test.run=^TestEachProcessHashesAnew$")
		again.Env = append(os.Environ(), mark+"=1")
		output, err := again.Output()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulated program cannot start itself: run it on its own machine")
		}
		require.NoError(t, err)
		line := regexp.MustCompile(`(?m)^keys .*$`).FindString(string(output))
		for _, number := range numbers.FindAllString(line, -1) {
			require.False(t, seen[number], "a key hashes alike in two processes")
			seen[number] = true
		}
	}
	require.Len(t, seen, 16, "four keys in four processes")
}

// hostileTexts hands out a million different texts, cut out of one long random one: most are short,
// every 5000th is a megabyte, and there are empty ones, NULs, and bytes that are no UTF-8.
type hostileTexts struct{ long string }

const megabyte = 1 << 20

func newHostileTexts() hostileTexts {
	random := rand.New(rand.NewPCG(41, 42))
	long := make([]byte, 0, 2*megabyte+16)
	for len(long) < 2*megabyte {
		long = binary.LittleEndian.AppendUint64(long, random.Uint64())
	}
	return hostileTexts{string(long)}
}

func (h hostileTexts) text(i int) string {
	length := 4 + i%60
	switch {
	case i%5000 == 1:
		length = megabyte
	case i%100 == 1:
		length = 8192
	}
	return h.long[i%(megabyte-7) : i%(megabyte-7)+length]
}

// TestMemoryStaysUnderHostileTexts sends up to a million texts of up to a megabyte to limiters that
// are made for a hundredth as many keys, over several windows. Memory is that of New: by the
// limiter's own account, by what the heap has grown, and by what was allocated on the way, which is
// nothing. Under WithLog, whose memory follows what it counts, the flood of the last window takes
// no more than that of the first.
func TestMemoryStaysUnderHostileTexts(t *testing.T) {
	texts := newHostileTexts()
	events := 1_000_000
	if hurried() {
		events /= 20
	}
	keys := events / 100
	for _, k := range []kind{kinds[0], kinds[1], kinds[2], kinds[6]} {
		t.Run(k.name, func(t *testing.T) {
			l := k.build(t, 2, limiter.WithKeys(keys))
			const floods = 4
			flood := func(n int) {
				now := start + tallyring.Tick(n*10)*tallyring.Tick(window)
				for i := range events / floods {
					l.AllowAt(texts.text(n*events/floods+i), now, 1)
				}
			}
			bytes, before := l.StatsAt(start).Bytes, heapBytes()
			flood(0)
			if k.slots == 0 {
				bytes, before = l.StatsAt(start).Bytes, heapBytes()
			}
			var began, ended runtime.MemStats
			runtime.ReadMemStats(&began)
			for n := 1; n < floods; n++ {
				flood(n)
			}
			runtime.ReadMemStats(&ended)
			s := l.StatsAt(start + 10*(floods-1)*tallyring.Tick(window))
			require.Greater(t, s.Refused, uint64(events/50), "the flood was above what fits")
			require.Greater(t, s.TakenOver, uint64(keys), "cells have changed hands")
			require.LessOrEqual(t, s.Live, s.Cells)
			require.Zero(t, s.KeyLimits)
			grown := heapBytes() - before
			if k.slots == 0 {
				require.Less(t, grown, int64(bytes)/4+megabyte/4, "more than one flood's memory")
				return
			}
			require.Equal(t, bytes, s.Bytes)
			require.Less(t, grown, int64(megabyte/4))
			require.Less(t, ended.Mallocs-began.Mallocs, uint64(events/1000), "decisions allocate")
		})
	}
}

// oddKeys lists keys of every form that are easily taken for each other: by whoever stops at a NUL,
// normalises text, cuts long ones, joins parts or reads addresses loosely.
func oddKeys(l *limiter.Limiter) map[string]limiter.Key {
	long := strings.Repeat("x", megabyte)
	keys := map[string]limiter.Key{}
	for i, text := range []string{
		"", "\x00", "\x00\x00", "a", "a\x00", "a\x00b", "a\x00c", "A", " a", "a ", "a\n", "a\r\n",
		"\xff", "\xff\xff", "\xc3", "\xc3\x28", "\xed\xa0\x80", "\ufffd", "\ufeffa", "é", "e\u0301",
		"İ", "i̇", "192.0.2.1", "192.0.2.1:80", "::ffff:192.0.2.1", "[::ffff:192.0.2.1]", "%00",
		"{x}", "b}c", long, long + "y", long + "z", "y" + long, long[1:],
	} {
		keys[fmt.Sprintf("text %d, %.12q", i, text)] = l.Key(text)
	}
	for _, parts := range [][]string{
		{}, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"a\x00b"}, {"a,b"},
		// A part that writes the length of the next by itself.
		{"a\x01\x00\x00\x00\x00\x00\x00\x00b"}, {"", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"\x00\x00\x00\x00\x00\x00\x00\x00"}, {"\x00\x00\x00\x00\x00\x00\x00\x00", ""},
		{"\xff", "\xfe"}, {"\xff\xfe"}, {long, "a"}, {long + "a"}, {long, "", "a"},
	} {
		keys[fmt.Sprintf("parts %.40q", parts)] = l.KeyParts(parts...)
	}
	for _, text := range []string{"192.0.2.1", "192.0.2.2", "::", "::1", "0.0.0.0", "2001:db8::1",
		"2001:db8:0:1::1", "fe80::1", "64:ff9b::c000:201", "2002:c000:201::1", "::192.0.2.1"} {
		if text != "::1" && text != "::192.0.2.1" { // of the network of ::
			keys["address "+text] = l.KeyAddr(netip.MustParseAddr(text))
		}
	}
	keys["no address"] = l.KeyAddr(netip.Addr{})
	return keys
}

// TestOddKeysKeepTheirBudgets gives every odd key its own budget, all at the same time: exactly the
// limit passes, in each of two windows.
func TestOddKeysKeepTheirBudgets(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		const limit = 3
		l := k.build(t, limit)
		keys := oddKeys(l)
		for _, now := range []tallyring.Tick{start, start + 2*tallyring.Tick(window)} {
			passed := map[string]int{}
			for range limit + 2 {
				for name, key := range keys {
					if l.AllowKey(key, now, 1) {
						passed[name]++
					}
				}
			}
			for name := range keys {
				require.Equal(t, limit, passed[name], name)
			}
			require.EqualValues(t, len(keys), l.StatsAt(now).Live)
		}
	})
}

// TestForgedFormsOfAnAddressAreOneKey sends from one host under every form that its address can be
// given: one budget.
func TestForgedFormsOfAnAddressAreOneKey(t *testing.T) {
	l := kinds[1].build(t, 5)
	passed := 0
	for i := range 100 {
		for _, text := range []string{"192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201",
			fmt.Sprintf("::ffff:192.0.2.1%%zone%d", i)} {
			if l.AllowKey(l.KeyAddr(netip.MustParseAddr(text)), start, 1) {
				passed++
			}
		}
	}
	require.Equal(t, 5, passed)
	require.EqualValues(t, 1, l.StatsAt(start).Live)
}

// TestTrafficSetsNoKeyLimits sends hostile keys through every verb that decides, counts or reads,
// to a limiter in which some keys have limits of their own: their number stays what the operator
// has made it, and clearing what was never set, or clearing all, leaves nothing.
func TestTrafficSetsNoKeyLimits(t *testing.T) {
	texts := newHostileTexts()
	each(t, func(t *testing.T, k kind) {
		l := k.build(t, 2, limiter.WithKeys(1_000))
		mine := []limiter.Key{l.Key("a"), l.Key("b"), l.Key("c")}
		for i, key := range mine {
			require.NoError(t, l.SetKeyLimit(key, uint64(i)))
		}
		for i := range rounds(20_000) {
			text := texts.text(i)
			key := l.Key(text)
			l.AllowAt(text, start, 1)
			l.TakeAt(text, start, 3)
			l.PeekAt(text, start)
			l.RefundAt(text, start, 1)
			l.AllowMany([]limiter.Key{key}, start, 1, make([]bool, 1))
			l.Prefetch(key)
			l.ClearKeyLimit(key)
		}
		require.Equal(t, len(mine), l.StatsAt(start).KeyLimits)
		require.Positive(t, l.StatsAt(start).Refused)
		for _, key := range mine {
			l.ClearKeyLimit(key)
		}
		require.Zero(t, l.StatsAt(start).KeyLimits)
	})
}
