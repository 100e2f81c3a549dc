package limiter_test

import (
	"github.com/tallyring/tallyring"
)

// queueModel is what waiting promises, in one goroutine: for each key a row of those who wait, the
// first of whom is admitted at the first tick at which the model of the limiter admits him. It
// knows no alarms: it looks for that tick among all.
type queueModel struct {
	*model
	shadow bool
	now    tallyring.Tick
	rows   map[string][]*waiter
}

// waiter is one reservation and its fate.
type waiter struct {
	cost uint64
	fate fate
	at   tallyring.Tick // of one who was admitted
}

type fate string

const (
	waits    fate = "waits"
	admits   fate = "is admitted"
	shadowed fate = "passes in shadow"
	fails    fate = "can never pass"
	canceled fate = "is canceled"
)

func newQueueModel(k kind, limit uint64, now tallyring.Tick) *queueModel {
	return &queueModel{model: newModel(k, limit), now: now, rows: map[string][]*waiter{}}
}

// waiting returns how many wait.
func (q *queueModel) waiting() int {
	sum := 0
	for _, row := range q.rows {
		sum += len(row)
	}
	return sum
}

// hopeless tells whether an event can never pass.
func (q *queueModel) hopeless(key string, cost uint64) bool {
	limit := q.limitOf(key)
	return !q.shadow && (limit == 0 || cost > limit)
}

// reserve joins the row of a key, unless the event can never pass.
func (q *queueModel) reserve(key string, cost uint64) *waiter {
	w := &waiter{cost: cost, fate: waits}
	if q.hopeless(key, cost) {
		w.fate = fails
		return w
	}
	q.rows[key] = append(q.rows[key], w)
	q.serve(key)
	return w
}

// cancel leaves the row of a key, if w still waits in it.
func (q *queueModel) cancel(key string, w *waiter) bool {
	for i, other := range q.rows[key] {
		if other == w {
			w.fate = canceled
			q.rows[key] = append(q.rows[key][:i:i], q.rows[key][i+1:]...)
			q.serve(key)
			return true
		}
	}
	return false
}

// serve admits from the front of a row whom the limit admits now.
func (q *queueModel) serve(key string) {
	for len(q.rows[key]) > 0 {
		first := q.rows[key][0]
		switch at := q.place(key, q.now); {
		case q.allow(key, q.now, first.cost):
			first.fate, first.at = admits, tallyring.Tick(at)
		case q.shadow:
			first.fate = shadowed
		case q.hopeless(key, first.cost):
			first.fate = fails
		default:
			return
		}
		q.rows[key] = q.rows[key][1:]
	}
}

func (q *queueModel) serveAll() {
	for key := range q.rows {
		q.serve(key)
	}
}

// move moves time. On the way the first of each row is admitted at the first tick at which he can
// be: a window in which nothing happens holds less and less, so once he can he could later.
func (q *queueModel) move(to tallyring.Tick) {
	from := q.now
	for key := range q.rows {
		q.now = from
		for len(q.rows[key]) > 0 && q.model.admits(key, to, q.rows[key][0].cost) && to > q.now {
			low, high := q.now, to // denied at low, admitted at high
			for high-low > 1 {
				middle := low + (high-low)/2
				if q.model.admits(key, middle, q.rows[key][0].cost) {
					high = middle
				} else {
					low = middle
				}
			}
			q.now = high
			q.serve(key)
		}
	}
	q.now = to
}
