/*
 * Insertion, takeover and hit of package table.
 *
 * Two or three cells, of one probe range, in a window of one bucket; two callers of key K and one
 * of key THIRD, J or K, who run CALLS events each, allowed or (with REFUNDS) taken back, at any
 * tick of the buckets 1 to LAST: so ticks come late, too. SCENE is what the cells hold at first.
 * Each atomic load and each compare-and-swap of the code, of one word or of two, is one step, with
 * the local computing that follows from it.
 *
 *   key, state      a cell {fingerprint | mark : 1, index : 3, count or ticket : 4}
 *   again, scanned  Table.scan, which finds what Table.find and the short hits find
 *   settled, hit    Table.insert; Table.tryAllow, Table.Refund, with Packed's transitions
 *   free, start     Table.insert; Table.extend, Table.raise, Table.start, states.claim
 *   resolve         Table.resolve, Table.kill
 *
 * counted[] is what was admitted to a key in a bucket; the model alone keeps it. Invariants:
 *
 *   one_cell       No key ever has two settled cells.
 *   own_cell       A hit counts on a cell of its own key.
 *   count_true     A settled cell's count is what was admitted to its key in its bucket, less what
 *                  was taken back: nothing lost, nothing invented, and no second budget.
 *   within_limit   No key is admitted above L in one bucket.
 *   denied_right   A denied event met a key that had L in its bucket when it was denied.
 *   tickets_last   No cell needs more tickets than there are.
 *   FINITE         Every run ends, each caller at its end: a cycle would pass an accept label, and
 *                  one stands at every retry. Any caller may cease for good before any of its
 *                  steps.
 *
 * Left out: costs and limits above 1, more cells and several in a group, older buckets (those of a
 * tagged cell carry their own tags), the wrap of tickets and of indexes, and the stand-in for the
 * double-word swap, which may block an insertion, and no hit.
 */
#ifndef LIM
#define LIM 1
#endif
#ifndef SCENE
#define SCENE 1
#endif
#ifndef CALLERS
#define CALLERS 3
#endif
#ifndef THIRD
#define THIRD J
#endif
#ifndef CALLS
#define CALLS 1
#endif
#ifndef LAST
#define LAST 2
#endif
#ifndef CELLS
#define CELLS 2
#endif
#define NEVER 0
#define DEAD 1
#define X 2
#define K 3
#define J 4

#define MARK 128
#define WORD(index, low) ((index) * 16 + (low))
#define PENDING(s) ((s) >= MARK)
#define INDEX(s) (((s) & 127) >> 4)
#define LOW(s) ((s) & 15)
#define LATER(a, b) ((a) > (b) -> (a) : (b))

byte key[CELLS], state[CELLS];
byte horizon;                          /* 0, or the first bucket in which no lost key counted */
bit far;                               /* reach: whether any key was ever put two cells from home */
byte counted[10];

bool one_cell, own_cell, count_true, within_limit, denied_right, tickets_last;
#define HOLDS(name, x) assert((x) || name)

#define COUNTED(k, index) counted[((k) - K) * 5 + (index)]
#define OWNS(i) (key[i] == k && !PENDING(state[i]))
#define TRUE(i) \
  HOLDS(count_true, PENDING(state[i]) || key[i] < K \
    || LOW(state[i]) == COUNTED(key[i], INDEX(state[i])))
#define SOUND \
  HOLDS(one_cell, OWNS(0) + OWNS(1) + (CELLS > 2 && OWNS(CELLS - 1)) <= 1); \
  TRUE(0); TRUE(1); TRUE(CELLS - 1)

#define NONE 7
#define RESET i = 0; s = 0; p = NONE; ps = 0; f = NONE; fk = 0; fs = 0; seen = 0
#define DONE my = 0; refund = 0; own = 0; claim = 0; RESET; goto next
#define CEASE if :: true :: calls = 0; DONE fi
#define SWAP(i, k0, s0, k1, s1) key[i] == k0 && state[i] == s0 -> key[i] = k1; state[i] = s1
#ifdef PLAINKILL
#define KILLED(s) WORD(INDEX(s), 0)
#else
#define KILLED(s) s
#endif
#ifdef NOHORIZON
#define HORIZON 0
#else
#define HORIZON horizon
#endif

/* own, claim: this call's latest claim. i, s: the cell at hand. p, ps: the first pending cell. f,
   fk, fs: the first reusable one. seen: how far from home a probe looks. */
proctype caller(byte k, calls) {
  byte my, own, claim, i, s, p = NONE, ps, f = NONE, fk, fs, seen;
  bit refund;
next:
  do
  :: calls > 0 ->
  atomic {
    calls--;
    if :: my = 1 :: LAST > 1 -> my = 2 :: LAST > 2 -> my = 3 fi;
#ifdef REFUNDS
    if :: true :: refund = 1 fi
#endif
  };

accept_again:
  atomic { CEASE; RESET; seen = far + 1 };
  do
  :: i < CELLS && (i <= seen || f == NONE && p == NONE) ->
     atomic {
       CEASE;
#ifdef KEYFIRST
       s = key[i]
#else
       s = state[i]
#endif
     };
     atomic {
       CEASE;
#ifdef KEYFIRST
#define KEY s
#define STATE state[i]
#else
#define KEY key[i]
#define STATE s
#endif
       if
       :: KEY == k && !PENDING(STATE) ->
          s = STATE; p = NONE; ps = 0; f = NONE; fk = 0; fs = 0; seen = 0; goto settled
       :: KEY == k && PENDING(STATE) && p == NONE -> p = i; ps = STATE; f = NONE; fk = 0; fs = 0
       :: KEY != k && f == NONE && p == NONE && (KEY <= DEAD || INDEX(STATE) < my) ->
          f = i; fk = KEY; fs = STATE
       :: else
       fi;
       if
       :: KEY == NEVER && STATE == 0 -> goto scanned
       :: !(KEY == NEVER && STATE == 0) -> s = 0; i++
       fi
     }
  :: else -> break
  od;
scanned:
  atomic {
    i = 0; s = 0; seen = 0;
    if
    :: refund || p == NONE && f == NONE -> DONE  /* nothing to take back, or no cell is free */
    :: !refund && p < NONE -> goto resolve
    :: !refund && p == NONE && f < NONE -> goto free
    fi
  };

settled: /* cell i of the key held s */
#ifdef KEEPOWN
  goto hit;
#endif
  if
  :: claim == 0 -> goto hit
  :: claim > 0 ->
     atomic {
       CEASE; if :: SWAP(own, k, claim, DEAD, KILLED(claim)) :: else fi; own = 0; claim = 0
     }
  fi;
hit:
  atomic {
    CEASE;
    if
    :: refund && (my != INDEX(s) || LOW(s) == 0) -> DONE
    :: !refund && my <= INDEX(s) && LOW(s) >= LIM ->
#ifdef NORELOAD
       HOLDS(denied_right, COUNTED(k, INDEX(s)) >= LIM); DONE
#else
       if
       :: state[i] == s -> HOLDS(denied_right, COUNTED(k, INDEX(s)) >= LIM); DONE
       :: else -> goto accept_again
       fi
#endif
    :: else ->
       if
       :: state[i] == s ->
          HOLDS(own_cell, key[i] == k);
          if
          :: refund -> state[i] = s - 1; COUNTED(k, my)--
          :: !refund ->
             state[i] = (my > INDEX(s) -> WORD(my, 1) : s + 1);
             COUNTED(k, INDEX(state[i]))++;
             HOLDS(within_limit, COUNTED(k, INDEX(state[i])) <= LIM)
          fi;
          SOUND; DONE
       :: else -> goto accept_again
       fi
    fi
  };

free: /* cell f held fk and fs */
  if
  :: f < 2
  :: f == 2 ->
#ifndef LATEREACH
     atomic { CEASE; far = 1 }
#endif
  fi;
#ifdef LATERAISE
  goto start;
#endif
  if :: fk <= DEAD -> goto start :: fk > DEAD fi;
accept_raise:
  atomic { CEASE; s = horizon; if :: s > INDEX(fs) -> goto raised :: else fi };
  atomic { CEASE; if :: horizon == s -> horizon = INDEX(fs) + 1 :: else -> goto accept_raise fi };
raised:
#ifdef LATERAISE
  goto accept_again;
#endif
start:
  atomic {
    CEASE;
#if defined(NOMOVE)
    s = (fk > DEAD -> INDEX(fs) : my);
#elif defined(LOWCLAIM)
    s = my;
#else
    s = LATER(my, HORIZON);
#endif
    if
    :: fs == 0 || s > INDEX(fs) -> s = MARK + WORD(s, 0)
    :: fs > 0 && s <= INDEX(fs) ->
#ifdef NOTICKET
       s = MARK + WORD(INDEX(fs), 0)
#else
       s = MARK + WORD(INDEX(fs), LOW(fs) + 1); HOLDS(tickets_last, LOW(s) < 15)
#endif
    fi
#ifdef NORESCAN
    ; s = WORD(INDEX(s), 0)
#endif
  };
  atomic {
    CEASE;
    if
#ifdef HALFCLAIM
    :: key[f] == fk -> key[f] = k; state[f] = s;
#else
    :: SWAP(f, fk, fs, k, s);
#endif
       SOUND;
#ifndef NORESCAN
       own = f; claim = s
#endif
#ifdef LATEREACH
       ; if :: f == 2 -> goto reach :: else fi
#endif
#ifdef LATERAISE
       ; if :: fk > DEAD -> goto accept_raise :: else fi
#endif
    :: else
    fi;
    goto accept_again
  };
#ifdef LATEREACH
reach:
  atomic { CEASE; far = 1; goto accept_again };
#endif

resolve: /* cell p was pending, and held ps */
  atomic { CEASE; seen = far + 1 };
  do
  :: i < CELLS && i <= seen && i == p -> i++
  :: i < CELLS && i <= seen && i != p ->
     atomic { CEASE; s = state[i] };
     atomic {
       CEASE;
       if
#ifndef NOSETTLED
       :: key[i] == k && !PENDING(s) -> goto giveWay
#endif
#ifndef NOBEFORE
       :: key[i] == k && PENDING(s) && i < p -> goto accept_again
#endif
#ifndef NOKILL
       :: key[i] == k && PENDING(s) && i > p -> goto kill
#endif
       :: else -> s = 0; i++
       fi
     };
     goto rival;
kill:
     atomic {
       CEASE; if :: SWAP(i, k, s, DEAD, KILLED(s)); s = 0; i++ :: else -> goto accept_again fi
     };
rival: skip
  :: else -> break
  od;
  atomic {
    CEASE;
#if defined(NOMOVE) || defined(LOWCOMMIT)
    s = INDEX(ps)
#else
    s = LATER(INDEX(ps), HORIZON)
#endif
  };
  atomic { CEASE; if :: SWAP(p, k, ps, k, WORD(s, 0)); SOUND :: else fi; goto accept_again };
giveWay:
  atomic { CEASE; if :: SWAP(p, k, ps, DEAD, KILLED(ps)) :: else fi; goto accept_again }
  :: else -> break
  od
}

init {
  atomic {
#if SCENE == 1      /* whose ticks differ find different cells free */
    key[0] = X; state[0] = WORD(1, 1); key[1] = X; state[1] = WORD(0, 1);
#elif SCENE == 2    /* the cell of a key that has spent its limit, and may be taken over */
    key[0] = K; state[0] = WORD(1, LIM); COUNTED(K, 1) = LIM; key[1] = X; state[1] = WORD(0, 1);
#elif SCENE == 3    /* a cell that may be taken over, and one that was never used */
    key[0] = K; state[0] = WORD(1, 1); COUNTED(K, 1) = 1;
#elif SCENE == 5    /* such a cell and what an inserter left who stopped after its claim */
    key[0] = K; state[0] = WORD(1, LIM); COUNTED(K, 1) = LIM;
    key[1] = K; state[1] = MARK + WORD(1, 0);
#elif SCENE == 4    /* a third cell, two from home, where alone something is free at tick 1 */
    key[0] = X; state[0] = WORD(1, 1); key[1] = X; state[1] = WORD(1, 1);
    key[2] = X; state[2] = WORD(0, 1);
#endif
    run caller(K, CALLS);
#if CALLERS > 2
    run caller(K, CALLS);
#endif
    run caller(THIRD, CALLS)
  }
}
