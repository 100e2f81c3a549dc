package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/limiter"
	"github.com/tallyring/tallyring/table"
)

// limiterKey is one key of a limiter, as text, as a window. The limit is the limiter's own.
type limiterKey struct {
	of   *limiter.Limiter
	text string
}

func (k limiterKey) Allow(now tallyring.Tick, cost, _ uint64) bool {
	return k.of.AllowAt(k.text, now, cost)
}

func (k limiterKey) Take(now tallyring.Tick, cost, _ uint64) tallyring.Decision {
	return k.of.TakeAt(k.text, now, cost)
}

func (k limiterKey) Read(now tallyring.Tick) tallyring.Reading { return k.of.PeekAt(k.text, now) }

func (k limiterKey) Refund(at tallyring.Tick, count uint64) { k.of.RefundAt(k.text, at, count) }

// clockedKey is a limiterKey whose Allow reads the limiter's clock, which is the timeline: so it
// decides no earlier than at the tick that it is given, and no later than the timeline is after.
type clockedKey struct{ limiterKey }

func (k clockedKey) Allow(_ tallyring.Tick, cost, _ uint64) bool {
	return k.of.AllowN(k.text, cost)
}

// limiterKeys is a limiter as a structure of many keys, each the text of a number.
type limiterKeys struct {
	of *limiter.Limiter
}

func (k limiterKeys) key(number uint64) limiter.Key {
	var text [16]byte
	return k.of.KeyBytes(strconv.AppendUint(text[:0], number, 16))
}

// ask ignores the limit, which is the limiter's own.
func (k limiterKeys) ask(keys []uint64, now tallyring.Tick, _ uint64, allowed []bool) {
	if keys[0]%2 == 0 {
		for i, key := range keys {
			allowed[i] = k.of.AllowKey(k.key(key), now, 1)
		}
		return
	}
	var hashes [batch]limiter.Key
	for i, key := range keys {
		hashes[i] = k.key(key)
	}
	k.of.AllowMany(hashes[:len(keys)], now, 1, allowed)
}

// take ignores the limit, as ask does.
func (k limiterKeys) take(key uint64, now tallyring.Tick, _ uint64) tallyring.Decision {
	return k.of.TakeKey(k.key(key), now, 1)
}

func (k limiterKeys) read(key uint64, now tallyring.Tick) tallyring.Reading {
	return k.of.PeekKey(k.key(key), now)
}

func (k limiterKeys) state(now tallyring.Tick) keyedState {
	s := k.of.StatsAt(now)
	return keyedState{s.Cells, s.Live, s.TakenOver, s.Refused}
}

func (k limiterKeys) bytes() int { return k.of.Stats().Bytes }

// limiters are the loads on the front door: keys as text, by tick and by clock, hot keys, limits of
// single keys; new keys; and full limiters, with rings and with logs.
func (b *builder) limiters() error {
	clock := limiter.WithClock(b.line)
	const limit = 800
	l, err := limiter.New(limit, time.Second, clock, limiter.WithKeys(hotKeys),
		limiter.WithMaxLimit(2*limit), limiter.WithHotKeys("service", "upstream"))
	if err != nil {
		return err
	}
	b.limiterKeys("limiter/keys", shape{interpolated, int64(time.Second), 2}, l, limit)
	l, err = limiter.New(limit, 2*time.Second, clock, limiter.WithKeys(hotKeys),
		limiter.WithMaxLimit(2*limit), limiter.WithResolution(250*time.Millisecond),
		limiter.WithStrictWindow(), limiter.WithHotKeys("service"))
	if err != nil {
		return err
	}
	b.limiterKeys("limiter/strict", shape{whole, int64(250 * time.Millisecond), 9}, l, limit)

	churn, err := limiter.New(churnLimit, 4*time.Second, clock, limiter.WithStrictWindow(),
		limiter.WithKeys(b.churnKeys()+ghostRoom))
	if err != nil {
		return err
	}
	b.add(newChurnLoad(b.desk("limiter/churn"), shape{whole, int64(4 * time.Second), 2},
		b.churnKeys(), b.calls, b.numberRange(), limiterKeys{churn}))
	return b.fullLimiters(clock)
}

// limiterKeys adds a load on keys of a limiter, two of which may be hot. It changes the common
// limit, and the limit of one key.
func (b *builder) limiterKeys(name string, s shape, l *limiter.Limiter, limit uint64) {
	keys := []string{"service", "upstream"}
	for i := range hotKeys - len(keys) {
		keys = append(keys, fmt.Sprintf("client-%d", i))
	}
	var windows []window
	for i, key := range keys {
		if i%3 == 1 {
			windows = append(windows, clockedKey{limiterKey{l, key}})
			continue
		}
		windows = append(windows, limiterKey{l, key})
	}
	load := newWindowLoad(b.desk(name), s, limit, func() int { return l.Stats().Bytes }, windows...)
	turn, special := 0, false // whether the key whose turn it is has a limit of its own
	load.tune = func(limit uint64) error {
		if err := l.SetLimit(limit); err != nil {
			return err
		}
		if special = !special; special {
			turn = (turn + 1) % len(keys)
			return l.SetKeyLimit(l.Key(keys[turn]), limit)
		}
		l.ClearKeyLimit(l.Key(keys[turn]))
		return nil
	}
	b.add(load)
}

// fullLimiters are small limiters under a flood.
func (b *builder) fullLimiters(clock limiter.Option) error {
	for _, f := range []struct {
		name   string
		policy table.Policy
		log    bool
	}{
		{"limiter/overflow", limiter.Overflow, false},
		{"limiter/log deny", limiter.Deny, true},
		{"limiter/log overflow", limiter.Overflow, true},
	} {
		options := []limiter.Option{clock, limiter.WithKeys(floodKeys),
			limiter.WithFullPolicy(f.policy)}
		s := logOf(int64(time.Minute), 4)
		if f.log {
			options = append(options, limiter.WithLog())
		} else {
			options = append(options, limiter.WithStrictWindow())
			s = shape{whole, int64(time.Minute), 2}
		}
		l, err := limiter.New(floodLimit, time.Minute, options...)
		if err != nil {
			return err
		}
		b.add(newFloodLoad(b.desk(f.name), s, floodKeys, f.policy, b.numberRange(), limiterKeys{l}))
	}
	return nil
}
