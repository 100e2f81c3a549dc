/*
 * The sums of package atomicring: a word beside the head that spares decisions the slots.
 *
 * The sum of the two buckets before the newest stands for both sums, which are kept alike; the head
 * turns as rotation.pml shows that it does, in one step here. Three callers run operations of any
 * kind, two of them CALLS each and the third one, while the head turns up to TURNS times. Each load
 * and each compare-and-swap of the code is one step, in the code's order.
 *
 *   slot    the bucket of its tag, and its count
 *   sum     {index, summed, count}: Tagged.recall, sum, outdated, spoil
 *   DECIDE  Tagged.Try by the sums, and Tagged.weighed, which sums once it was admitted
 *   LATE    Tagged.addLate and TryRefund on an older bucket: slot, then spoil
 *
 * truth[b] is what bucket b counts, began[b] and done[b] are the late changes of it that have
 * swapped, and those that have returned; the model alone keeps them.
 *
 *   EXACT         misses_none and invents_none, of every decision by a sum:
 *   misses_none   It misses no late change that had returned when it began, and none of what was
 *                 carried into the slot.
 *   invents_none  It sees no change that has not happened.
 *   FINITE        Every run ends, each caller at its end: a cycle would pass an accept label, and
 *                 one stands where spoil repeats. Any caller may cease for good before any of its
 *                 steps.
 *
 * Left out: the seal (a sum is of no use under a sealed head, whatever the slots then say), late
 * adds to a bucket that has no slot yet, saturation, the owner's mark, wrapped indexes, more slots.
 *
 * Two steps of the code are more than it needs, and leaving them out fails nothing: to load the sum
 * that is replaced before the slots (SUMSLAST), and to look at the head once more before them
 * (NOHEAD). They keep the argument short, and spare a sum that nobody will use.
 */
#ifndef TURNS
#define TURNS 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define FIRST 2

#define SUMMED 8
#define WORD(b, rest) ((b) * 16 + (rest))
#define BUCKET(w) ((w) >> 4)
#define COUNT(w) ((w) & 7)
#define SPOILED(b) WORD(b, 1)

bool misses_none, invents_none;
#define HOLDS(name, x) assert((x) || name)

byte head = FIRST;                 /* the bucket alone: decisions swap it against itself */
byte slot[3];                      /* {bucket, count}, bucket b in slot b mod 3 */
byte sum;
byte truth[FIRST + TURNS + 1], began[FIRST + TURNS + 1], done[FIRST + TURNS + 1];

#define KNOWN(b) (truth[b] - (began[b] - done[b]))
#define HELD(b) (BUCKET(slot[(b) % 3]) == (b) -> COUNT(slot[(b) % 3]) : 0)
#define OUTDATED(w, e) ((w) == 0 || BUCKET(w) < (e))
#ifdef KEEP
#define OF(w, e) (BUCKET(w) + 1 >= (e))
#else
#define OF(w, e) (BUCKET(w) == (e))
#endif

#define RESET e = 0; b = 0; old = 0; held = 0; missed = 0
#define CEASE if :: true :: calls = 0; RESET; goto next fi

proctype caller(byte calls) {
  byte e, b, old, held, missed;
next:
  do
  :: calls > 0 ->
     calls--;
     if
     :: /* DECIDE */
        atomic { CEASE; e = head; missed = KNOWN(e - 1) + KNOWN(e - 2) };
        atomic { CEASE; old = sum };
        if
        :: old & SUMMED && OF(old, e) ->
           atomic {
             CEASE;
             if
             :: head == e ->
                HOLDS(misses_none, COUNT(old) >= missed);
                HOLDS(invents_none, COUNT(old) <= truth[e - 1] + truth[e - 2])
             :: else
             fi
           }
        :: else ->
           /* admitted on the slots; then the sum is made. */
#ifndef SUMSLAST
           atomic { CEASE; old = sum };
#endif
           if
           :: OUTDATED(old, e) ||
#ifdef RESUM
              old == SPOILED(e)
#else
              false
#endif
              ->
#ifndef NOHEAD
              atomic { CEASE; if :: head == e :: else -> goto end fi };
#endif
              atomic { CEASE; held = HELD(e - 1) };
              atomic { CEASE; held = held + HELD(e - 2) };
#ifdef SUMSLAST
              atomic { CEASE; old = sum; if :: OUTDATED(old, e) :: else -> goto end fi };
#endif
              atomic { CEASE; if :: sum == old -> sum = WORD(e, SUMMED + held) :: else fi }
           :: else
           fi
        fi
     :: /* LATE: one more in a bucket before the newest */
        atomic { CEASE; e = head; if :: b = e - 1 :: b = e - 2 fi };
#ifdef SPOILFIRST
        atomic { CEASE; e = head };
        do
        :: true ->
accept_first:
           atomic { CEASE; old = sum };
           if
           :: !OUTDATED(old, e) && !(BUCKET(old) == e && old & SUMMED) -> break
           :: else -> atomic { CEASE; if :: sum == old -> sum = SPOILED(e); break :: else fi }
           fi
        od;
#endif
        atomic { CEASE; old = slot[b % 3] };
        atomic {
          CEASE;
          if
          :: slot[b % 3] == old && BUCKET(old) == b && COUNT(old) < 7 ->
             slot[b % 3] = old + 1; truth[b]++; began[b]++
          :: else -> goto end
          fi
        };
#ifndef NOSPOIL
#ifndef SPOILFIRST
#ifndef SHARP
        atomic { CEASE; e = head };
#endif
        do
        :: true ->
accept_spoil:
           atomic { CEASE; old = sum };
           if
           :: !OUTDATED(old, e) && !(BUCKET(old) == e && old & SUMMED) -> break
           :: else -> atomic { CEASE; if :: sum == old -> sum = SPOILED(e); break :: else fi }
           fi
        od;
#endif
#endif
        atomic { CEASE; done[b]++ }
     fi;
end: atomic { RESET }
  :: else -> break
  od
}

/* The head's bucket counts 1 when it is carried, over an older tag. */
proctype turn() {
  do
  :: head < FIRST + TURNS ->
     atomic { slot[head % 3] = WORD(head, 1); truth[head] = 1; head++ }
  :: break
  od
}

init {
  atomic {
    slot[0] = WORD(0, 1); slot[1] = WORD(1, 1); slot[2] = 0;
    truth[0] = 1; truth[1] = 1;
    run caller(CALLS); run caller(CALLS); run caller(1); run turn()
  }
}
