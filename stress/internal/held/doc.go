// Package held stops goroutines of the engine between a load and the compare-and-swap that rests on
// it, and lets others pass. All of it is in the tests, which run in builds with the tag
// tallyring_hold:
//
//	go test -tags tallyring_hold ./stress/internal/held
//
// In other builds nothing stops, since the points are not there; one test is skipped and says so.
//
//	point   a place in the engine at which a goroutine can be stopped, tallyring.Point
//	actor   a goroutine that goes on from point to point when it is told to; one runs at a time
//	stage   where actors take turns; the test itself is never stopped
//	run     have something done to its end while all others stand still: nobody waits for them
//
// So each test is one interleaving, the same every time. What it cannot show is the order of memory
// operations on a machine that reorders them: actors hand over to each other, which orders all.
//
// # Every argument, both ways
//
// Where the engine's comments argue that whichever of two comes first, all is well, both come first
// here; and whoever can be stopped is stopped, until the others have done all that they want.
//
// Rings:
//
//	TestAdmissionsAtTheLimitsEdge       two events on one word, with room for one
//	  either first                      it is admitted, the other fails and is denied
//	TestAddAndRefundOfOneWord           an add and a refund on one packed word
//	  either first                      both count
//	TestEventAgainstSeal                a change of the head, and the seal before it is copied
//	  event first                       the seal fails, and its author carries the new count
//	  seal first                        the event fails, helps, and counts behind the turn
//	TestEmptyHeadTurnsWithoutSeal       an event, and the turn of a head that counts nothing
//	  event first                       the turn fails, and carries it
//	  turn first                        the event fails, and is late
//	TestStalledRotator                  a rotator stopped before each swap, for 1 to 8 turns
//	  others first                      they decide exactly; when it wakes its swap does nothing
//	TestLateAddAgainstCopy              a late add to the oldest bucket, and the copy on its slot
//	TestRefundAgainstCopy               the same for a refund
//	  change first                      the copy fails and is made again
//	  copy first                        the change fails, and its bucket has left the window
//	TestCopyIsRefunded                  a refund from a sealed bucket, and a copier with its count
//	  refund first                      it reaches the copy, and the late copy does not undo it
//	TestChangesOfOneSlot                a late add and a refund of one slot
//	  either first                      both count
//	TestStalledLateAdder                a late adder stopped at two places for 0 to 8 turns
//	TestStalledRefund                   the same for a refund
//	  others first                      it counts in its own bucket, or nowhere
//	TestTagThatHasWrapped               a copy over a tag that looks newer, and a stopped copier
//	  others first                      its swap does nothing
//	TestGlanceAgainstRefund             a denial or a reading, and a refund
//	  glance first                      denied, or read as it was
//	  refund first                      it looks again
//	TestGlanceAgainstTurn               the same, and a turn over the slots that it reads
//	  turn first                        it looks again, as of the new bucket
//	TestEveryScheduleOfARing            all schedules of these, with few switches
//
// Sums of a ring:
//
//	TestSumAgainstSpoil                 a sum that lacks a late change, and its spoiling
//	  sum first                         the spoil fails and is made again
//	  spoil first                       the store fails
//	TestSlotAgainstSum                  a late change, and the look at its slot
//	  slot first                        the sum has the change, and is spoiled
//	  sum first                         the sum lacks it, and is spoiled
//	TestChangeThatIsNotSpoiledYet       a late changer stopped between slot and sums
//	  decision first                    it may miss the change, and none does once that returned
//	TestDecisionThatRunsMissesAChange   a decision stopped with the sums read, or before
//	  change first                      missed with the sums in hand, else seen
//	TestChangeThatSpoilsTooLate         a late changer stopped before it spoils, and a turn
//	  head loaded before the turn       the new sums have the change, and stand
//	  head loaded after it              the new sums are spoiled
//	TestStalledSummer                   a summer stopped before each step, for 0 to 4 turns
//	  others first                      they decide exactly; what it stores is of no harm
//
// Tables:
//
//	TestHitAgainstTakeover              a hit, and the claim of its expired cell
//	  hit first                         the claim fails
//	  claim first                       the hit fails, and its key comes back in another cell
//	TestGlanceAgainstTakeover           a denial or a reading, and a takeover of its cell
//	  takeover first                    it finds that the state has changed
//	TestStateOfAnotherKey               a state loaded before its cell became the caller's own
//	  takeover first                    the old state is not decided on
//	TestTwoKeysClaimOneCell             two claims of one cell
//	  either first                      it wins, the other finds another cell
//	TestOneOfTwoClaimsIsSettled         two claims by one key, the first of which has scanned
//	  settled first                     the other one sees that, and its claim is killed
//	  the other first                   it sees the first claim; the one that lies later is killed
//	TestLaterClaimGivesWay              a claim that lies later, and one that lies before it
//	  scanned first                     the later one is killed
//	  claimed first                     the later one gives way
//	TestPendingCellBesideASettledOne    a claim made beside a settled cell, met by a third
//	  settled first                     the second scan sees it, and the claim is killed
//	TestDeadCellIsClaimedAgain          a killed claim whose cell its key has claimed again
//	  the other claim first             the first is settled no more
//	TestKillAgainstSettling             a kill, and the swap that settles the same claim
//	  kill first                        it is settled no more
//	  settled first                     the kill fails, and its author gives way
//	TestBothSettleOneClaim              its owner and a helper, about to settle one claim
//	  either first                      the other swap fails, though the cell counts already
//	TestStalledInserter                 an inserter stopped before each step
//	  others first                      they insert the key and get exactly its limit
//	TestClaimsSettledByNobody           a claim left behind until it expires
//	  takeover first                    it is settled no more
//	TestKilledClaimIsNeverSettled       a killed claim whose cell another key has claimed since
//	  the other claim first             it is settled no more
//	TestLateTickAgainstTakeover         a spent key by a late tick, at each step of a takeover
//	  tick first                        denied in its own cell
//	  takeover first                    counted where what it spent counts no more
//	TestClaimLeftBesideASettledCell     an old claim of a spent key, and the takeover of its cell
//	  claim first                       it is killed
//	  takeover first                    it is settled behind the horizon
//	TestTwoRaises                       two takeovers that raise the horizon
//	  either first                      the later bucket stands
//	TestReachIsExtendedBeforeTheClaim   a claim far from home, and a scan that may end near
//	  extended first                    the scan sees the claim
//	  scan first                        the claim sees the other one
//	TestStaleRotationInATakenCell       a rotator or summer of the old key in the new key's cell
//	  takeover first                    nothing of what it does counts
//	TestEveryScheduleOfATable           all schedules of inserters, with few switches
//
// Limiters:
//
//	TestSpendAgainstClose               a spend, and the close of its shard
//	  spend first                       the close fails and sees what is used
//	  close first                       the spend fails, and is decided on exactly
//	TestStalledCloser                   a closer stopped before each shard and before its swap
//	  others first                      they spend exactly the rest, or any part of it
//	TestTwoFolds                        two swaps that end one generation
//	  either first                      the other fails
//	TestTwoSpendsOfOneShard             two spends of one word
//	  either first                      the other fails, and spends again
//	TestStaleSpender                    a spender stopped between loads, for 1 to 20 generations
//	TestStaleSpenderAtTheEdge           the same with nothing left
//	  others first                      it spends nothing that it did not see
//	TestStaleSpenderWithALargerShare    the same with a cost that fits no more
//	  others first                      it is denied
//	TestDenialWhileShardsAreSpent       a denial while it adds up, and spends or a refund
//	  spends first                      it is right still
//	  refund first                      it looks again, and is admitted
//	TestAdmissionAgainstFold            an exact admission, and the end of the generation
//	  admission first                   the fold fails
//	  fold first                        the admission fails, and is made again
//	TestLastPermit                      two exact admissions, with room for one
//	  either first                      it is admitted, the other is denied
//	TestDenialAgainstRefund             an exact denial, and a refund
//	  denial first                      denied
//	  refund first                      admitted
//	TestLimitBetweenLoads               a decision stopped at each load, and a lower limit
//	  limit first                       the decision goes by it
//	TestLimitThatIsStored               SetLimit stopped before it ends the generation
//	  decision first                    by the old limit if it had loaded that
//	TestStalledTurn                     a turner stopped before each swap, out of either mode
//	  others first                      they decide exactly; when it wakes its swap does nothing
//	TestAdmissionAgainstSeal            an admission or a spend, and the turn of its bucket
//	  admission first                   its count is carried
//	  turn first                        it fails, and is counted in the new bucket
//	TestEveryScheduleOfALimiter         all schedules of two who ask, with few switches
//
// Counters:
//
//	TestStalledAdder                    an adder stopped before it counts in a new bucket
//	  reader first                      it misses that add alone
//	TestAdderThatSleptForAWindow        the same until its bucket has left the window
//	  others first                      it counts nowhere
//	TestReaderAgainstTurn               a reader between any two rings, and a turn
//	  reader first                      it misses the add that turned
//	  turn first                        it reads again, as of the new bucket
//	TestTwoTurnsOfACounter              two adds that begin a bucket
//	  either first                      the later bucket stands
//
// The stand-in for the double-word compare-and-swap, in builds that have it (-race, purego):
//
//	TestHitsNeverWaitForAPair           an inserter stopped inside
//	  others first                      hits go on, who wants the same cell waits
//	TestTwoLatchesOfOnePair             two claims of one cell
//	  either first                      the other fails
//	TestLatchAgainstHit                 a hit, and a takeover's latch
//	  hit first                         the latch fails
//	  latch first                       the hit fails
//	TestFoldInsideOfAPair               a fold stopped inside
//	  others first                      they wait, and are exact
package held
