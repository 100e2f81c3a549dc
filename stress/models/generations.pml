/*
 * The generations of package pertcore: a limit spread over two shards, exactly.
 *
 * Fixed window (one slot, but with the seal and the turn), three callers on two shards, a clock
 * that moves on at any time. Each load and each compare-and-swap is one atomic step, as in the
 * code, in the code's order: the shard before the center, the center before the decision. Key and
 * state of the center are one word here, since they change together. A spend compares the lowest bit
 * of the generations alone (LOWS 2; with LOWS 1 nothing of them), as the code compares the lowest
 * three; all else compares them in full.
 *
 *   center  {bucket, generation, exact, sealed, count}
 *   shard   {generation, closed, used}
 *
 * adm[b] is what was admitted in bucket b, kept by the model alone: the truth.
 *
 * Mutants, each of which must fail: NOCLOSE (a fold adds up without closing), HEADFIRST (the center
 * is loaded before the shard), SKIPOLD (a fold leaves shards
 * of the generation before as they are).
 */
#ifndef LIM
#define LIM 5
#endif
#ifndef REQ
#define REQ 2
#endif
#ifndef TURNS
#define TURNS 1
#endif
#ifndef LOWS
#define LOWS 2
#endif
#define P 2
#define ROOM 2
byte Cb = 0, Cg = 1, Cc = 0;
bit Cx = 1, Cs = 0;
byte Sg[P], Su[P];
bit Sc[P] = 1;
byte adm[4];
byte now = 0, total = 0, fin = 0;

#define SAME (Cb == b && Cg == g && Cc == c && Cx == x && Cs == s)
#define LOW(a) ((a) % LOWS)
#define LOADSHARD atomic { wg = Sg[i]; wu = Su[i]; wc = Sc[i] }
#define LOADCENTER atomic { b = Cb; g = Cg; c = Cc; x = Cx; s = Cs }
#define ADMIT adm[b] = adm[b] + 1; total++; assert(adm[b] <= LIM)
#define TRUTH assert(!Cx || Cc == adm[Cb])

proctype caller(byte i) {
  byte r = 0, my, b, g, c, wg, wu, j, sum, to;
  bit x, s, wc, ok, same;
  do
  :: r < REQ ->
     my = now;
again:
     atomic { b=0; g=0; c=0; x=0; s=0; wg=0; wu=0; wc=0; j=0; sum=0; to=0; ok=0; same=0 };
#ifdef HEADFIRST
     LOADCENTER; LOADSHARD;
#else
     LOADSHARD; LOADCENTER;
#endif
     to = (my > b -> my : (s -> b + 1 : b));
     if
     :: x && to == b && c >= LIM ->           /* denied on the exact count, if it still stands */
        atomic { if :: SAME -> r++; ok = 1 :: else fi };
        if :: ok -> goto next :: else -> goto again fi
     :: x && to > b ->
        if
        :: !s && c > 0 ->                     /* seal, which freezes the count */
           atomic { if :: SAME -> Cs = 1; ok = 1 :: else fi };
           if :: !ok -> goto again :: else fi;
           s = 1
        :: else
        fi;
        atomic { if :: SAME -> assert(Cc == adm[Cb]); Cb = to; Cc = 0; Cs = 0 :: else fi; TRUTH };
        goto again
     :: x && to == b && c < LIM ->            /* an exact admission, which may open shared mode */
        atomic { if :: SAME -> Cc = c + 1; Cx = (LIM - c - 1 >= ROOM -> 0 : 1); ADMIT; ok = 1
                    :: else fi; TRUTH };
        if :: ok -> r++; goto next :: else -> goto again fi
     :: !x && to == b ->
        if
        :: LOW(wg) == LOW(g) && !wc && wu < (LIM - c) / P ->
           atomic { if :: Sg[i] == wg && Su[i] == wu && Sc[i] == wc ->
                          Su[i] = wu + 1; ADMIT; ok = 1
                       :: else fi };
           if :: ok -> r++; goto next :: else -> goto again fi
        :: wg + 1 == g && (LIM - c) / P > 0 ->
           atomic { if :: Sg[i] == wg && Su[i] == wu && Sc[i] == wc ->
                          Sg[i] = g; Su[i] = 1; Sc[i] = 0; ADMIT; ok = 1
                       :: else fi };
           if :: ok -> r++; goto next :: else -> goto again fi
        :: else
        fi
     :: !x && to > b                          /* to a newer bucket by way of exact mode */
     fi;
     /* The sum of all shards: over the limit for good, so denied without a write. */
     do
     :: j < P -> atomic { if :: Sg[j] == g -> sum = sum + Su[j] :: else fi; j++ }
     :: else -> break
     od;
     if
     :: to == b && c + sum >= LIM ->
        atomic { if :: SAME -> assert(adm[b] >= LIM); r++; ok = 1 :: else fi };
        if :: ok -> goto next :: else -> goto again fi
     :: else
     fi;
     /* Fold: close every shard, add up, swap the center. */
     atomic { j = 0; sum = 0 };
     do
     :: j < P ->
        atomic { wg = Sg[j]; wu = Su[j]; wc = Sc[j] };
        if
        :: wg > g || wg + 1 < g -> goto again
        :: wg == g && wc -> atomic { sum = sum + wu; j++ }
        :: wg == g && !wc ->
#ifdef NOCLOSE
           atomic { sum = sum + wu; j++ }
#else
           atomic { if :: Sg[j] == wg && Su[j] == wu && Sc[j] == wc ->
                          Sc[j] = 1; sum = sum + wu; j++
                       :: else fi }
#endif
        :: wg + 1 == g ->
#ifdef SKIPOLD
           j++
#else
           atomic { if :: Sg[j] == wg && Su[j] == wu && Sc[j] == wc ->
                          Sg[j] = g; Su[j] = 0; Sc[j] = 1; j++
                       :: else fi }
#endif
        fi
     :: else -> break
     od;
     atomic { if :: SAME -> Cc = c + sum; Cg = g + 1; Cx = 1;
                            Cs = (to > b && c + sum > 0 -> 1 : 0); assert(Cc == adm[b])
                 :: else fi; TRUTH };
     goto again;
next: skip
  :: else -> break
  od;
  atomic {
    fin++;
    if
    :: fin == 3 && TURNS == 0 -> assert(total == (LIM < 3*REQ -> LIM : 3*REQ))
    :: fin == 3 && !Cx ->
       assert(Cc + (Sg[0] == Cg -> Su[0] : 0) + (Sg[1] == Cg -> Su[1] : 0) == adm[Cb])
    :: else
    fi
  }
}
proctype clock() { do :: now < TURNS -> now++ :: break od }
init { atomic { run caller(0); run caller(0); run caller(1); run clock() } }
