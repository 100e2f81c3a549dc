package main

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/slidinglog"
)

// logKey is one key of slidinglog.Keyed as a window. A key that finds no place is denied, which its
// account would notice: there is one for each.
type logKey struct {
	of  *slidinglog.Keyed
	key uint64
}

func (k logKey) Allow(now tallyring.Tick, cost, limit uint64) bool {
	allowed, placed := k.of.Allow(k.key, now, cost, limit)
	return allowed && placed
}

func (k logKey) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	d, _ := k.of.Take(k.key, now, cost, limit)
	return d
}

func (k logKey) Read(now tallyring.Tick) tallyring.Reading { return k.of.Read(k.key, now) }

func (k logKey) Refund(at tallyring.Tick, count uint64) { k.of.Refund(k.key, at, count) }

// logKeys is slidinglog.Keyed as a structure of many keys.
type logKeys struct {
	of   *slidinglog.Keyed
	line *timeline
}

func (k logKeys) ask(keys []uint64, now tallyring.Tick, limit uint64, allowed []bool) {
	for i, key := range keys {
		passed, placed := k.of.Allow(key, now, 1, limit)
		allowed[i] = passed && placed
	}
}

func (k logKeys) take(key uint64, now tallyring.Tick, limit uint64) tallyring.Decision {
	d, _ := k.of.Take(key, now, 1, limit)
	return d
}

func (k logKeys) read(key uint64, now tallyring.Tick) tallyring.Reading {
	return k.of.Read(key, now)
}

func (k logKeys) state(now tallyring.Tick) keyedState {
	s := k.of.Stats(now)
	return keyedState{uint64(s.Places), uint64(s.Live), s.Reused, s.Refused}
}

func (k logKeys) bytes() int { return k.of.Stats(k.line.Now()).Bytes }

// logs are the loads on exact logs: one, some keys that stay, and new keys.
func (b *builder) logs() error {
	const length, parts = 2 * time.Second, 5
	log, err := slidinglog.New(length)
	if err != nil {
		return err
	}
	limit := b.scaled(4_000)
	// A log has no method that tells its bytes: each tick that counts takes 16, in a ring that may
	// be twice as large, and a fill and a storm count at no more ticks than the largest limit.
	ceiling := func() int { return 2 * 16 * 2 * int(limit) }
	b.add(newWindowLoad(b.desk("slidinglog/log"), logOf(int64(length), parts), limit, ceiling, log))

	const long = 4 * time.Second
	keys := b.churnKeys() / 8
	keyed, err := slidinglog.NewKeyed(long, keys+ghostRoom+hotKeys)
	if err != nil {
		return err
	}
	var windows []window
	for range hotKeys {
		windows = append(windows, logKey{keyed, mixed(b.number())})
	}
	b.add(newWindowLoad(
		b.desk("slidinglog/keyed"), logOf(int64(long), parts), 200, none, windows...))
	b.add(newChurnLoad(b.desk("slidinglog/churn"), logOf(int64(long), parts), keys, b.calls/8,
		b.numberRange(), logKeys{keyed, b.line}))
	return nil
}
