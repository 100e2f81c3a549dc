/*
 * The generations of package pertcore: one limit spread over two shards, exactly.
 *
 * A strict window of SLOTS slots, 1 or 2; three callers, two on one shard and one on the other, who
 * run CALLS operations each, the last of them LAST: an event of cost 1 or COST or, with REFUNDS, a
 * refund, at any tick of TURNS+1 buckets: so ticks come late, too. START 1 begins in shared mode.
 * Each atomic load and each compare-and-swap of the code, of one word or of two, is one step, with
 * the local computing that follows from it; a load of which nothing comes is none.
 *
 *   key, head   the center: generation | {exact, low bit of the generation, bucket, sealed, count}
 *   shard       {generation, closed, used}
 *   older       the bucket before the head's, {bucket, count}
 *   glance      Limiter.Allow: a spend that never loads the key
 *   again       Limiter.decide: the shard, then Limiter.look (the head, then the key), then
 *               Limiter.weigh, which is Tagged.Standing (the older bucket)
 *   exact       Limiter.decideExact, and Limiter.mode, which opens shared mode
 *   shared      Limiter.decideShared, Limiter.spendable, Limiter.opened
 *   addUp       Limiter.addUp
 *   settle      Limiter.unchanged, under a denial or before a fold
 *   fold        Limiter.fold, Limiter.closeShard
 *   turn        Limiter.turn, Tagged.Carry
 *   refund      Limiter.Refund, and Tagged.TryRefund on the older bucket
 *
 * adm[b] is what was admitted in bucket b, less what was taken back; the model alone keeps it.
 *
 *   exact_count    A center in exact mode, and the older bucket, say the truth: no permit is lost,
 *                  minted, or left in a shard.
 *   within_limit   Nothing is admitted above L.
 *   denied_right   A denied event would not have fitted when the head was loaded, or the older
 *                  bucket, or when the head was found unchanged.
 *   FINITE         Every run ends, each caller at its end: a cycle would pass an accept label, and
 *                  one stands at every retry. Any caller may cease for good before any of its
 *                  steps.
 *   generations_last   No run needs more generations than the model's words can tell apart.
 *
 * Left out: weights and since, SetLimit and Observe, sums that are only read (Take's once it has
 * admitted, and Read's), costs of 0, saturation, a limiter that never counted anything, more
 * shards, the wrap of generations and of indexes, and the stand-in for the double-word swap. ROOM,
 * from which shared mode pays, is 2 here, for small limits. The head has one low bit of the
 * generation (LOWS 2) where the code's has three.
 */
#ifndef LIM
#define LIM 4
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef LAST
#define LAST CALLS
#endif
#ifndef START
#define START 0
#endif
#ifndef COST
#define COST 1
#endif
#ifndef TURNS
#define TURNS 0
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef LOWS
#define LOWS 2
#endif
#define ROOM 2
#define SHARDS 2
#define FIRST 1

#define EXACT 128
#define SEAL 8
#define HEAD(g, b, c) ((g) % LOWS * 64 + (b) * 16 + (c))
#define ISEXACT(h) ((h) >= EXACT)
#define LOW(h) (((h) >> 6) & 1)
#define BUCKET(h) (((h) >> 4) & 3)
#define SEALED(h) (((h) & SEAL) > 0)
#define COUNT(h) ((h) & 7)

#define CLOSED 8
#define SHARD(g, used) ((g) * 16 + (used))
#define GENERATION(w) ((w) >> 4)
#define ISCLOSED(w) (((w) & CLOSED) > 0)
#define USED(w) ((w) & 7)

byte key = 1, head = EXACT + HEAD(1, FIRST, 0);
byte older;
byte shard[SHARDS] = CLOSED;
byte adm[FIRST + TURNS + 1];

bool exact_count, within_limit, denied_right, generations_last;
#define HOLDS(name, x) assert((x) || name)

#define HELD(b) ((older >> 4) == (b) -> COUNT(older) : 0)
#define TRUTH(b) (adm[b] + (SLOTS == 2 -> adm[(b) - 1] : 0))
#define FULL (TRUTH(idx) + cost > LIM)
#define SOUND \
  HOLDS(exact_count, !ISEXACT(head) || COUNT(head) == adm[BUCKET(head)]); \
  HOLDS(exact_count, SLOTS == 1 || SEALED(head) || HELD(BUCKET(head) - 1) == adm[BUCKET(head) - 1])
#define ADMIT adm[idx] = adm[idx] + cost; HOLDS(within_limit, TRUTH(idx) <= LIM); SOUND

/* Tagged.Standing: the bucket decided in, and what its window holds beside the shards. */
#define STANDING (my > BUCKET(h) -> my : BUCKET(h) + (SEALED(h) -> 1 : 0))
#define AHEAD (idx - BUCKET(h))
#define STANDS ((AHEAD < SLOTS -> COUNT(h) : 0) + o)

#ifdef WHOLESHARE
#define SHARE (LIM - STANDS)
#else
#define SHARE ((LIM - STANDS) / SHARDS)
#endif
#ifdef REOPEN
#define OPEN(w) true
#else
#define OPEN(w) !ISCLOSED(w)
#endif
#ifdef ANYSUM
#define COUNTS(w) true
#else
#define COUNTS(w) (GENERATION(w) == g)
#endif

#define SWAP(word, old, new) word == old -> word = new
#ifdef ONEWORD
#define SWAPBOTH(newKey, newHead) head == h -> key = newKey; head = newHead
#else
#define SWAPBOTH(newKey, newHead) key == g && head == h -> key = newKey; head = newHead
#endif
#define RESET h = 0; g = 0; w = 0; o = 0; j = 0; sum = 0; idx = 0; right = 0
#define AGAIN RESET; goto accept_again
#define DONE cost = 0; my = 0; RESET; goto next
#define CEASE if :: true :: calls = 0; DONE fi

/* cost is 0 for a refund. w: the caller's shard, or the one at hand. h, g: the center. o: what the
   older bucket counts. sum: what the shards use. idx: the bucket decided in. right: whether a
   denial would be. */
proctype caller(byte n, calls) {
  byte cost, my, h, g, w, o, j, sum, idx;
  bit right;
next:
  do
  :: calls > 0 ->
  atomic {
    calls--;
    if
    :: cost = 1
    :: COST > 1 -> cost = COST
#ifdef REFUNDS
    :: cost = 0; goto chosen
#endif
    fi;
chosen:
    if :: my = FIRST :: TURNS > 0 -> my = FIRST + 1 :: TURNS > 1 -> my = FIRST + 2 fi;
    if :: cost > 0 -> goto glance :: true -> goto accept_again fi /* Allow, or Take and Refund */
  };

glance:
  atomic { CEASE; w = shard[n] };
  atomic {
    CEASE; h = head; idx = BUCKET(h);
    if
    :: LOW(h) == GENERATION(w) % LOWS && !ISEXACT(h) && !ISCLOSED(w) && !SEALED(h) && idx == my
    :: else -> AGAIN
    fi;
    if
    :: SLOTS == 1 && STANDS + (USED(w) + cost) * SHARDS > LIM -> AGAIN
    :: SLOTS == 1 && STANDS + (USED(w) + cost) * SHARDS <= LIM -> goto spend
    :: SLOTS == 2
    fi
  };
  atomic {
    CEASE; o = HELD(idx - 1);
    if :: STANDS + (USED(w) + cost) * SHARDS > LIM -> AGAIN :: else fi
  };
spend:
  atomic { CEASE; if :: SWAP(shard[n], w, w + cost); ADMIT; DONE :: else -> AGAIN fi };

accept_again:
#ifdef HEADFIRST
  atomic { CEASE; h = head; idx = STANDING; right = cost > 0 && ISEXACT(h) && FULL };
  atomic { CEASE; w = shard[n]; goto looked };
#else
  if
  :: cost == 0
  :: cost > 0 -> atomic { CEASE; w = shard[n] }
  fi;
#endif
accept_look:
  atomic { CEASE; h = head; idx = STANDING; right = (cost > 0 && ISEXACT(h) && FULL) };
looked:
  atomic {
    CEASE; g = key;
#ifndef TORN
    if
    :: LOW(h) != g % LOWS -> h = 0; g = 0; idx = 0; right = 0; goto accept_look
    :: else
    fi;
#endif
    if
    :: cost == 0 -> goto refund
    :: cost > 0 && SLOTS == 2 && AHEAD == 0
    :: cost > 0 && !(SLOTS == 2 && AHEAD == 0) -> goto weighed
    fi
  };
  atomic { CEASE; o = HELD(idx - 1) };
weighed:
  if
  :: !ISEXACT(h) -> goto shared
  :: ISEXACT(h)
  fi;

  /* exact: */
  if
  :: STANDS + cost > LIM -> goto settle
  :: STANDS + cost <= LIM && AHEAD > 0 -> goto turn
  :: else
  fi;
  atomic {
    CEASE;
    if
    :: SWAPBOTH(g, (LIM - STANDS >= ROOM + cost -> h - EXACT : h) + cost); ADMIT; DONE
    :: else -> AGAIN
    fi
  };

shared:
  if
  :: AHEAD == 0 && GENERATION(w) == g && OPEN(w) && USED(w) + cost <= SHARE ->
     atomic {
       CEASE;
       if :: SWAP(shard[n], w, SHARD(g, USED(w)) + cost); ADMIT; DONE :: else -> AGAIN fi
     }
  :: AHEAD == 0 && GENERATION(w) + 1 == g && cost <= SHARE ->
     atomic { CEASE; if :: SWAP(shard[n], w, SHARD(g, cost)); ADMIT; DONE :: else -> AGAIN fi }
  :: else
  fi;

#ifdef WAITS
  if :: GENERATION(w) == g && ISCLOSED(w) -> AGAIN :: else fi;
#endif
  /* addUp: */
  atomic { w = 0; o = 0 };
  do
  :: j < SHARDS ->
     atomic { CEASE; if :: COUNTS(shard[j]) -> sum = sum + USED(shard[j]) :: else fi; j++ }
  :: else -> break
  od;
  atomic { j = 0; if :: AHEAD >= SLOTS -> sum = 0 :: else fi };
  if
  :: SLOTS == 2 && AHEAD == 0 -> atomic { CEASE; o = HELD(idx - 1); right = FULL }
  :: else
  fi;
settle:
  atomic { CEASE; right = (right || FULL); if :: head == h :: else -> AGAIN fi };
  atomic {
    CEASE;
    if
    :: key == g ->
       if
       :: STANDS + sum + cost > LIM && (ISEXACT(h) || AHEAD > 0 || LIM >= ROOM + STANDS + sum) ->
          HOLDS(denied_right, right); DONE
       :: else -> sum = 0; o = 0; right = 0
       fi
    :: else -> AGAIN
    fi
  };
#ifdef TURNSHARED
  if :: AHEAD > 0 -> goto turn :: else fi;
#endif

fold:
accept_fold:
  do
  :: j < SHARDS ->
     atomic {
       CEASE; w = shard[j];
       if
       :: GENERATION(w) > g || GENERATION(w) + 1 < g -> AGAIN
       :: GENERATION(w) == g && ISCLOSED(w) -> sum = sum + USED(w); w = 0; j++; goto folded
#ifdef NOCLOSE
       :: GENERATION(w) == g && !ISCLOSED(w) -> sum = sum + USED(w); w = 0; j++; goto folded
#endif
#ifdef SKIPOLD
       :: GENERATION(w) + 1 == g -> w = 0; j++; goto folded
#endif
       :: else
       fi
     };
     atomic {
       CEASE;
       if
       :: GENERATION(w) == g && shard[j] == w ->
          shard[j] = w + CLOSED; sum = sum + USED(w); w = 0; j++
       :: GENERATION(w) + 1 == g && shard[j] == w ->
          shard[j] = SHARD(g, CLOSED); w = 0; j++
       :: else -> w = 0; goto accept_fold
       fi
     };
folded: skip
  :: else -> break
  od;
  atomic {
    CEASE; HOLDS(generations_last, g < 15);
    if
    :: SWAPBOTH(g + 1, EXACT + HEAD(g + 1, BUCKET(h), COUNT(h) + sum)
         + (AHEAD > 0 && COUNT(h) + sum > 0 -> SEAL : 0)); SOUND
    :: else
    fi;
    AGAIN
  };

turn:
  atomic { w = 0; g = 0; o = 0; right = 0 };
  if
  :: SLOTS == 1 || COUNT(h) == 0 -> goto move
  :: SLOTS == 2 && COUNT(h) > 0 && SEALED(h) -> goto accept_carry
  :: else
  fi;
  atomic {
    CEASE;
    if :: SWAP(head, h, h + SEAL); h = h + SEAL; SOUND :: else -> AGAIN fi
  };
accept_carry:
  atomic {
    CEASE; w = older;
    if
    :: w > 0 && w >> 4 == BUCKET(h) -> w = 0; goto move
    :: w == 0 || w >> 4 < BUCKET(h) -> goto carry
    :: else
    fi
  };
  atomic { CEASE; if :: head == h :: else -> w = 0; goto move fi };
carry:
  atomic {
    CEASE;
    if
    :: SWAP(older, w, BUCKET(h) * 16 + COUNT(h)); w = 0; SOUND
    :: else -> w = 0; goto accept_carry
    fi
  };
move:
  atomic {
    CEASE;
    if
    :: head == h -> head = (h & (EXACT + 64)) + idx * 16; SOUND
    :: else
    fi;
    AGAIN
  };

refund:
  if
  :: AHEAD > 0 && SEALED(h) -> goto turn
  :: AHEAD == 0 && my == idx && !ISEXACT(h) -> goto fold
  :: AHEAD == 0 && my == idx && ISEXACT(h) && COUNT(h) > 0 ->
     atomic {
       CEASE;
       if :: SWAP(head, h, h - 1); adm[my]--; SOUND; DONE :: else -> AGAIN fi
     }
  :: AHEAD == 0 && my + 1 == idx && SLOTS == 2 ->
     atomic {
       CEASE; w = older;
       if :: w >> 4 == my && COUNT(w) > 0 :: else -> DONE fi
     };
     atomic { CEASE; if :: SWAP(older, w, w - 1); adm[my]--; SOUND; DONE :: else -> AGAIN fi }
  :: else -> atomic { DONE }
  fi
  :: else -> break
  od
}

init {
  atomic {
#if START == 1 /* one event counted in the center, one in a shard and one in the older bucket */
    head = HEAD(1, FIRST, 1); shard[0] = SHARD(1, 1); adm[FIRST] = 2;
#if SLOTS == 2
    older = 1; adm[0] = 1;
#endif
#endif
    run caller(0, CALLS); run caller(0, CALLS); run caller(1, LAST)
  }
}
