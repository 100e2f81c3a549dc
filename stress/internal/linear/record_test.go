package linear

import (
	"runtime"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/tallyring/tallyring"
)

// subject is what a script drives. Its do is called by many goroutines at once.
type subject interface {
	do(in input) output
}

// recorder makes the history of one script. A stamp is taken before each call and after it, from
// one counter, so that a call that ended before another began has the smaller stamps.
type recorder struct {
	script
	subject
	stamps atomic.Int64
	_      [tallyring.PadBytes]byte // keeps what follows away from what all members write
	calls  [][]porcupine.Operation  // by goroutine; before and after the others, by the last entry
	idle   atomic.Int64
}

func newRecorder(s script, on subject) *recorder {
	r := &recorder{script: s, subject: on, calls: make([][]porcupine.Operation, len(s.each)+1)}
	for i := range s.each {
		r.calls[i] = make([]porcupine.Operation, 0, len(s.each[i]))
	}
	r.alone(s.first)
	return r
}

// alone makes calls one after another.
func (r *recorder) alone(calls []input) {
	for _, in := range calls {
		r.call(len(r.each), in, none)
	}
}

// call makes one call for a goroutine, and writes it down.
func (r *recorder) call(member int, in input, before pause) output {
	call := r.stamps.Add(1)
	if before == yielding {
		runtime.Gosched()
	}
	for range before % yielding {
		r.idle.Load()
	}
	out := r.do(in)
	r.calls[member] = append(r.calls[member], porcupine.Operation{
		ClientId: member, Input: in, Call: call, Output: out, Return: r.stamps.Add(1),
	})
	return out
}

// member does what the script has for a goroutine.
func (r *recorder) member(member int) {
	if member >= len(r.each) {
		return
	}
	var admitted input // the last Take that was admitted and not refunded, if its verb is a refund
	for _, step := range r.each[member] {
		in := step.input
		if step.refund && admitted.verb == refundVerb {
			in, admitted = admitted, input{}
		}
		out := r.call(member, in, step.before)
		d := out.decision
		if in.verb == takeVerb && d.Allowed && in.cost > 0 && d.At >= r.refundable {
			admitted = input{verb: refundVerb, tick: d.At, cost: in.cost, key: in.key}
		}
	}
}

// history returns all calls, after the script's last ones were made.
func (r *recorder) history() []porcupine.Operation {
	r.alone(r.last)
	var all []porcupine.Operation
	for _, calls := range r.calls {
		all = append(all, calls...)
	}
	return all
}
