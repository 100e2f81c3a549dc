/*
 * Rotation of the tagged ring of package atomicring: seal, carry, move on.
 *
 * A strict window of three slots; three callers, who run CALLS operations each, of any kind, at any
 * tick of TURNS+1 buckets or, to add and to take back, of the two before: so ticks come late, too.
 * Each atomic load and each compare-and-swap of the code is one step, with the local computing that
 * follows from it.
 *
 *   head, older   Tagged: word 0 and the slots, {bucket : 4 | sealed : 1 | count : 3}
 *   ALLOW         Tagged.weighed, of which Tagged.Try and Ring.Allow are a short form
 *   READ          Tagged.TryRead, and what a denial rests on
 *   ADD           Tagged.TryAdd, Tagged.addLate
 *   REFUND        Tagged.TryRefund
 *   rotate        Tagged.rotate, Tagged.Carry
 *
 * truth[b] is what is counted in bucket b; the model alone keeps it. Invariants:
 *
 *   head_count, older_count   After every swap the words say the truth of every bucket of the
 *                window (once the head is sealed: of the window that comes next). No count is lost,
 *                none invented.
 *   sum_exact    The sum on which an event is admitted or denied, or a reading rests, is the truth
 *                at that moment, but for late adds and late refunds since the operation began. So
 *                never above L, and never denied while there is room.
 *   FINITE       Every run ends, each caller at its end: a cycle would pass an accept label, and
 *                one stands at every retry. Any caller may cease for good before any of its steps.
 *
 * WRAP begins with older words that look newer than the head: so old that their distance wrapped.
 *
 * Left out: costs above 1, saturation, weights, a ring that never counted anything, more slots, the
 * sums beside the head (sums.pml).
 */
#ifndef TURNS
#define TURNS 1
#endif
#ifndef CALLS
#define CALLS 1
#endif
#ifndef LIM
#define LIM 4
#endif
#define FIRST 2
#define ALLOW 1
#define READ 2
#define ADD 3
#define REFUND 4

#define SEAL 8
#define WORD(b, c) ((b) * 16 + (c))
#define BUCKET(w) ((w) >> 4)
#define COUNT(w) ((w) & 7)
#define SEALED(w) (((w) & SEAL) != 0)
#define NEWER(w, b) (BUCKET(w) != (b) && ((BUCKET(w) - (b)) & 15) <= 8)

byte head = WORD(FIRST, 1);
byte older[2];
byte truth[FIRST + TURNS + 1];
byte lateAdds, lateRefunds;

bool head_count, older_count, sum_exact;
#define HOLDS(name, x) assert((x) || name)

#define SLOT(b) older[(b) & 1]
#define HELD(b) (BUCKET(SLOT(b)) == (b) -> COUNT(SLOT(b)) : 0)
#ifdef NOSEAL      /* the oldest slot is overwritten too early: let that be, and show the rest */
#define LEAVES true
#else
#define LEAVES SEALED(head)
#endif
#define SOUND \
  HOLDS(head_count, COUNT(head) == truth[BUCKET(head)]); \
  HOLDS(older_count, HELD(BUCKET(head) - 1) == truth[BUCKET(head) - 1]); \
  HOLDS(older_count, LEAVES || HELD(BUCKET(head) - 2) == truth[BUCKET(head) - 2])
#define TRUTH ((idx <= BUCKET(head) -> truth[idx] : 0) + truth[idx - 1] + truth[idx - 2])
#ifdef NOSEAL
#define EXACT
#else
#define EXACT \
  HOLDS(sum_exact, TRUTH <= sum + (lateAdds - adds) && TRUTH + (lateRefunds - refunds) >= sum)
#endif

/* Tagged.Standing: the bucket decided in. A late tick's is the head's; a sealed head's the next. */
#define STANDING(h) (at > BUCKET(h) -> at : BUCKET(h) + (ONITSWAY(h) -> 1 : 0))
#if defined(COUNTSEALED)
#define ONITSWAY(h) false
#elif defined(STANDSTILL)
#define ONITSWAY(h) (SEALED(h) && op > READ)
#else
#define ONITSWAY(h) SEALED(h)
#endif
#define AHEAD (idx - BUCKET(h))
/* Tagged.weigh: what the older word w counts in the window that ends at idx. */
#define INSIDE(w) (BUCKET(w) + 2 >= idx && BUCKET(w) < BUCKET(h) -> COUNT(w) : 0)

#define SWAP(word, old, new) word == old -> word = new
#define RESET h = 0; held = 0; idx = 0; sum = 0; adds = 0; refunds = 0
#define DONE op = 0; at = 0; RESET; goto next
#define CEASE if :: true :: calls = 0; DONE fi

proctype caller(byte calls) {
  byte op, at, h, held, idx, sum, adds, refunds;
next:
  do
  :: calls > 0 ->
  atomic {
    calls--;
    if :: op = ALLOW :: op = READ :: op = ADD :: op = REFUND fi;
    if
    :: at = FIRST :: at = FIRST + 1 :: TURNS > 1 -> at = FIRST + 2
    :: op >= ADD -> at = FIRST - 1 :: op >= ADD -> at = FIRST - 2
    fi
  };

accept_again:
  atomic {
    CEASE; RESET; h = head; idx = STANDING(h);
    if
    :: op == REFUND && (at > BUCKET(h) || at + 3 <= BUCKET(h)) -> DONE
    :: op == REFUND && at <= BUCKET(h) && at + 3 > BUCKET(h) ->
       idx = BUCKET(h) + 1;
#ifdef SEALEDREFUND
#define HELPS(h) false
#elif defined(OLDERREFUND)
#define HELPS(h) (SEALED(h) && at == BUCKET(h))
#else
#define HELPS(h) SEALED(h)
#endif
       if
       :: HELPS(h) -> goto rotate
       :: !HELPS(h) && at < BUCKET(h) -> goto refundLate
       :: !HELPS(h) && at == BUCKET(h) && COUNT(h) == 0 -> DONE
       :: !HELPS(h) && at == BUCKET(h) && COUNT(h) > 0 -> goto refund
       fi
    :: op == ADD ->
       if
       :: at + 3 <= idx -> goto settle
       :: at + 3 > idx && AHEAD > 0 -> goto rotate
       :: at + 3 > idx && AHEAD == 0 && at < idx -> goto addLate
       :: at + 3 > idx && AHEAD == 0 && at == idx -> goto count
       fi
    :: op <= READ ->
       adds = lateAdds; refunds = lateRefunds;
       sum = (AHEAD < 3 -> COUNT(h) : 0);
       if :: AHEAD < 2 :: else -> goto weighed fi
    fi
  };
  atomic { CEASE; sum = sum + INSIDE(older[0]) };
  atomic { CEASE; sum = sum + INSIDE(older[1]) };
weighed:
  if
  :: op == ALLOW && sum < LIM && AHEAD > 0 -> goto rotate
  :: op == ALLOW && sum < LIM && AHEAD == 0 -> goto count
  :: else
  fi;

settle: /* a denial, a reading, a dropped add: by loads alone */
  atomic {
    CEASE;
    if
#ifdef NORELOAD
    :: true ->
#else
    :: head == h ->
#endif
       if :: op <= READ -> EXACT :: else fi; DONE
    :: else -> goto accept_again
    fi
  };

count:
  atomic {
    CEASE;
    if
    :: SWAP(head, h, h + 1);
       if :: op == ALLOW -> EXACT :: else fi;
       truth[BUCKET(h)]++; SOUND; DONE
    :: else -> goto accept_again
    fi
  };

refund:
  atomic {
    CEASE;
    if
    :: SWAP(head, h, h - 1); truth[at]--; SOUND; DONE
    :: else -> goto accept_again
    fi
  };

refundLate:
  atomic {
    CEASE; held = SLOT(at);
    if :: BUCKET(held) != at || COUNT(held) == 0 -> DONE :: else fi
  };
  atomic {
    CEASE;
    if
    :: SWAP(SLOT(at), held, held - 1); truth[at]--; lateRefunds++; SOUND; DONE
    :: else -> goto accept_again
    fi
  };

addLate:
  atomic {
    CEASE; held = SLOT(at); sum = WORD(at, 1);
    if
    :: BUCKET(held) == at -> sum = held + 1; goto addLateSwap
    :: BUCKET(held) != at && (held == 0 || !NEWER(held, at)) -> goto addLateSwap
    :: else
    fi
  };
#ifdef LATETRUST
  goto accept_again;
#endif
#ifndef LATEBLIND
  atomic { CEASE; if :: head == h :: else -> goto accept_again fi };
#endif
addLateSwap:
  atomic {
    CEASE;
    if
    :: SWAP(SLOT(at), held, sum); truth[at]++; lateAdds++; SOUND; DONE
    :: else -> goto accept_again
    fi
  };

rotate:
#ifdef NOCOPY
  goto move;
#endif
  if
  :: COUNT(h) == 0 -> goto move
  :: COUNT(h) > 0 && SEALED(h) ->
#ifdef NOHELP
     goto accept_again
#else
     goto accept_carry
#endif
  :: else
  fi;
#ifdef NOSEAL
  goto accept_carry;
#endif
  atomic {
    CEASE;
    if :: SWAP(head, h, h + SEAL); h = h + SEAL; SOUND :: else -> goto accept_again fi
  };
accept_carry:
  atomic {
    CEASE; held = SLOT(BUCKET(h));
    if
#ifdef BLINDCOPY
    :: true -> goto carry
#else
#ifdef LARGER
    :: BUCKET(held) == BUCKET(h) && COUNT(held) < COUNT(h) -> goto carry
    :: BUCKET(held) == BUCKET(h) && COUNT(held) >= COUNT(h) -> goto move
#else
    :: held != 0 && BUCKET(held) == BUCKET(h) -> goto move
#endif
    :: held == 0 || BUCKET(held) != BUCKET(h) && !NEWER(held, BUCKET(h)) -> goto carry
#endif
    :: else
    fi
  };
#ifdef TRUSTNEWER
  goto move;
#endif
  atomic { CEASE; if :: head == h :: else -> goto move fi };
carry:
  atomic {
    CEASE;
    if
    :: SWAP(SLOT(BUCKET(h)), held, WORD(BUCKET(h), COUNT(h))); SOUND
    :: else -> goto accept_carry
    fi
  };
move:
  atomic { CEASE; if :: SWAP(head, h, WORD(idx, 0)); SOUND :: else fi; goto accept_again }
  :: else -> break
  od
}

init {
  atomic {
    truth[FIRST] = 1;
#ifdef WRAP
    older[0] = WORD(10, 1); older[1] = WORD(9, 1);
#else
    older[0] = WORD(0, 1); older[1] = WORD(1, 1); truth[0] = 1; truth[1] = 1;
#endif
    run caller(CALLS); run caller(CALLS); run caller(CALLS)
  }
}
