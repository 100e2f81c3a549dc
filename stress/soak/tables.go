package main

import (
	"time"

	"github.com/tallyring/tallyring"
	"github.com/tallyring/tallyring/table"
)

// tableKey is one key of a table as a window.
type tableKey struct {
	of  *table.Table
	key uint64
}

func (k tableKey) Allow(now tallyring.Tick, cost, limit uint64) bool {
	return k.of.Allow(k.key, now, cost, limit)
}

func (k tableKey) Take(now tallyring.Tick, cost, limit uint64) tallyring.Decision {
	return k.of.Take(k.key, now, cost, limit)
}

func (k tableKey) Read(now tallyring.Tick) tallyring.Reading { return k.of.Read(k.key, now) }

func (k tableKey) Refund(at tallyring.Tick, count uint64) { k.of.Refund(k.key, at, count) }

// tableKeys is a table as a structure of many keys.
type tableKeys struct {
	of *table.Table
}

func (k tableKeys) ask(keys []uint64, now tallyring.Tick, limit uint64, allowed []bool) {
	if keys[0]%2 == 0 {
		k.of.AllowMany(keys, now, 1, limit, allowed)
		return
	}
	for i, key := range keys {
		allowed[i] = k.of.Allow(key, now, 1, limit)
	}
}

func (k tableKeys) take(
	key uint64, now tallyring.Tick, limit uint64,
) tallyring.Decision {
	return k.of.Take(key, now, 1, limit)
}

func (k tableKeys) read(key uint64, now tallyring.Tick) tallyring.Reading {
	return k.of.Read(key, now)
}

func (k tableKeys) state(now tallyring.Tick) keyedState {
	s := k.of.Stats(now)
	return keyedState{s.Cells, s.Live, s.TakenOver, s.Refused}
}

func (k tableKeys) bytes() int { return k.of.Bytes() }

// none is the memory of a load whose structure another load has counted.
func none() int { return 0 }

const (
	hotKeys   = 48 // keys of a table, a limiter or a log that are windows of their own
	floodKeys = 1000
)

// tables are the loads on tables: keys that stay and keys that are new in one table, with cells of
// one word and of a line; and small tables that are full, under each policy.
func (b *builder) tables() error {
	for _, t := range []struct {
		name  string
		w     tallyring.Window
		limit uint64
	}{
		{"table/compact", tallyring.Window{Slots: 2, Width: 4 * time.Second, Strict: true}, 900},
		{"table/wide", tallyring.Window{Slots: 5, Width: time.Second, Strict: true}, 700},
	} {
		of, err := table.New(table.Config{Window: t.w, MaxLimit: largest(t.limit),
			Keys: b.churnKeys() + ghostRoom + hotKeys})
		if err != nil {
			return err
		}
		var windows []window
		for range hotKeys {
			windows = append(windows, tableKey{of, mixed(b.number())})
		}
		b.add(newWindowLoad(b.desk(t.name), shapeOf(t.w), t.limit, none, windows...))
		b.add(newChurnLoad(b.desk(t.name+" churn"), shapeOf(t.w), b.churnKeys(), b.calls,
			b.numberRange(), tableKeys{of}))
	}
	if err := b.interpolatedTable(); err != nil {
		return err
	}
	for _, f := range []struct {
		name   string
		slots  int
		policy table.Policy
	}{
		{"table/deny", 2, table.Deny}, {"table/allow", 2, table.Allow},
		{"table/overflow", 2, table.Overflow}, {"table/wide deny", 3, table.Deny},
		{"table/wide overflow", 4, table.Overflow},
	} {
		w := tallyring.Window{Slots: f.slots, Width: time.Minute, Strict: true}
		of, err := table.New(table.Config{Window: w, Keys: floodKeys, WhenFull: f.policy})
		if err != nil {
			return err
		}
		b.add(newFloodLoad(b.desk(f.name), shapeOf(w), floodKeys, f.policy, b.numberRange(),
			tableKeys{of}))
	}
	return nil
}

// interpolatedTable is a table of a few keys whose oldest bucket is weighted.
func (b *builder) interpolatedTable() error {
	w := tallyring.Window{Slots: 2, Width: 600 * time.Millisecond}
	const limit = 300
	of, err := table.New(table.Config{Window: w, MaxLimit: largest(limit), Keys: hotKeys})
	if err != nil {
		return err
	}
	var windows []window
	for range hotKeys {
		windows = append(windows, tableKey{of, mixed(b.number())})
	}
	b.add(newWindowLoad(
		b.desk("table/interpolated"), shapeOf(w), limit, of.Bytes, windows...))
	return nil
}
