package mutation

// A mutant is one protection switched off.
type mutant struct {
	name string
	file string // below the repository
	old  string // stands in the file exactly once
	new  string
	pkg  string // the package of the test, below the repository
	test string // the test that must turn red, as go test prints its name
}

// mutants is the table. What a protection is for stands with its test.
var mutants = []mutant{
	// Fences and epochs.
	{
		name: "a report is accepted with another claim's fence", file: "internal/control/report.go",
		old: "!r.Status.Live() || r.Fence != rep.Fence ||", new: "!r.Status.Live() ||",
		pkg: "internal/control", test: "TestReportsOfOthersAreRefused",
	},
	{
		name: "a report is accepted from another epoch", file: "internal/control/report.go",
		old: " || r.Node != rep.Node.ID || r.Epoch != rep.Node.Epoch {", new: " {",
		pkg: "internal/control", test: "TestReportUnderANewerEpochIsRefused",
	},
	{
		name: "an agent's command is accepted with another claim's fence", file: "internal/control/run_fence.go",
		old: "case r.Fence != *w.meta.Fence:", new: "case false:",
		pkg: "internal/control", test: "TestAgentsActOnlyUnderTheirFence",
	},
	{
		name: "a dead epoch may claim and report", file: "internal/store/lock.go",
		old: "if n == nil || !n.DeadAt.IsZero() {", new: "if n == nil {",
		pkg: "internal/control", test: "TestADeadEpochClaimsNothing",
	},
	{
		name: "a run that goes back to the queue keeps its fence", file: "internal/control/run_requeue.go",
		old: "r.Fence = fairlead.Fence{Number: r.Fence.Number + 1}", new: "r.Fence = fairlead.Fence{Number: r.Fence.Number}",
		pkg: "internal/control", test: "TestEveryClaimHasItsOwnFence",
	},

	// Constraints: the last word where two commands do not see each other.
	{
		name: "one queued run an assignment is not unique", file: "internal/store/migrations/0001_core.sql",
		old: "CREATE UNIQUE INDEX runs_queued_assignment", new: "CREATE INDEX runs_queued_assignment",
		pkg: "internal/store", test: "TestConformance",
	},
	{
		name: "one holder a seat is not unique", file: "internal/store/migrations/0001_core.sql",
		old: "CREATE UNIQUE INDEX seats_holder", new: "CREATE INDEX seats_holder",
		pkg: "internal/store", test: "TestConformance",
	},
	{
		name: "what a claim finds taken is not told", file: "internal/store/live.go",
		old: "		if a.touched == 0 {", new: "		if a.touched < 0 {",
		pkg: "internal/store", test: "TestConformance",
	},

	// Group commit.
	{
		name: "any error rolls its member back alone", file: "internal/store/group.go",
		old: "if m.final || !classOf(g.db, m.err).rollsBackAlone() {", new: "if m.final {",
		pkg: "internal/store", test: "TestR28_OtherErrorAbortsTheBatch",
	},
	{
		name: "a commit that failed is told as done", file: "internal/store/group.go",
		old: "	if err := g.commit(); err != nil {\n		if g.fatal(err) {\n			g.deliver",
		new: "	if err := g.commit(); err != nil && g.db.classify(err) == classIO {\n		if g.fatal(err) {\n			g.deliver",
		pkg: "internal/store", test: "TestR28_FullDiskAtCommit",
	},
	{
		name: "an I/O error of COMMIT is tried again", file: "internal/store/group.go",
		old: "if g.db.classify(err) != classIO {", new: "if true {",
		pkg: "internal/store", test: "TestR28_IOErrorAtCommitEndsTheProcess",
	},
	{
		name: "synchronous is NORMAL", file: "internal/store/sqlite.go",
		old: `"synchronous(FULL)"`, new: `"synchronous(NORMAL)"`,
		pkg: "internal/store", test: "TestPragmas",
	},

	// Wakes: nothing polls.
	{
		name: "a wake that is only absorbed wakes nobody", file: "internal/control/run_wake.go",
		old: "	if r.Due {\n		w.look()", new: "	if r.Due && fresh {\n		w.look()",
		pkg: "internal/control", test: "TestR27_FreedByTheTransactionThatFreesIt",
	},
	{
		name: "the end of a run wakes nobody", file: "internal/control/run_finish.go",
		old: "	w.forget()\n	w.look()\n	data :=", new: "	w.forget()\n	data :=",
		pkg: "internal/control", test: "TestR27_FreedByTheTransactionThatFreesIt",
	},
	{
		name: "a hold that is over wakes nobody", file: "internal/control/hold_stand.go",
		old: "	w.look()\n	if h.Kind == fairlead.HoldCooldown {", new: "	if h.Kind == fairlead.HoldCooldown {",
		pkg: "internal/control", test: "TestTheEndOfACoolDownWakes",
	},

	// Once and no more.
	{
		name: "a timer fires in any generation", file: "internal/store/timer.go",
		old: "`DELETE FROM timers WHERE id = ?1 AND generation = ?2`", new: "`DELETE FROM timers WHERE id = ?1 AND ?2 = ?2`",
		pkg: "internal/store", test: "TestConformance",
	},
	{
		name: "timers trust a clock that stands still in a sleep", file: "internal/control/due.go",
		old: "min(wait, timerLook))", new: "wait)",
		pkg: "internal/control", test: "TestClockJumps_TimersAreSeenSoonAfterASleep",
	},
	{
		name: "a late heir takes over what works again", file: "internal/control/recover.go",
		old: "!r.Status.Live() || r.Fence != left.Fence || r.Epoch != left.Epoch", new: "!r.Status.Live()",
		pkg: "internal/control", test: "TestR10_ALateHeirChangesNothing",
	},
	{
		name: "an operation id is good for another command", file: "internal/control/work.go",
		old: "if prev.Fingerprint != w.meta.Fingerprint {", new: "if false {",
		pkg: "internal/control", test: "TestE4_OneOperationManyTimesAtOnce",
	},
	{
		name: "a report sent again is carried out again", file: "internal/control/report.go",
		old: "if r.Heard(rep.Fence.Number, rep.Seq) {", new: "if false {",
		pkg: "internal/control", test: "TestAReportSentAgainIsNotCarriedOutAgain",
	},
	{
		name: "a reused key makes another run", file: "internal/control/run_wake.go",
		old: "if err != nil || holder != id {", new: "if err != nil {",
		pkg: "internal/control", test: "TestR5_KeyOfAWake",
	},

	// Claims.
	{
		name: "a cool-down holds nobody", file: "internal/control/hold_gate.go",
		old: "	i := slices.IndexFunc(standing, func(s fairlead.StandingHold) bool { return s.Kind == fairlead.HoldCooldown })\n	if i < 0 {",
		new: "	i := slices.IndexFunc(standing, func(s fairlead.StandingHold) bool { return s.Kind == fairlead.HoldCooldown })\n	if i < 0 || true {",
		pkg: "internal/control", test: "TestR14_CoolDownAtTheClaim",
	},
	{
		name: "the process tree need not be dead", file: "internal/control/report_close.go",
		old: "	if t.treeDead {", new: "	if true {",
		pkg: "internal/control", test: "TestTreeDeadFreesTheTaskAndNothingElse",
	},
	{
		name: "a person's wake raises nothing", file: "internal/control/run_wake.go",
		old: "	r.Priority = max(r.Priority, policy.RunRank(person, w.task.row.Priority))", new: "",
		pkg: "internal/control", test: "TestR24_APersonsWakeRaisesAQueuedRun",
	},
	{
		name: "settle delays nothing", file: "internal/control/run_wake.go",
		old: "if err != nil || settle <= 0 {", new: "if true {",
		pkg: "internal/control", test: "TestR4_SettleMakesABurstOneTurn",
	},
	{
		name: "a worktree on another node holds nobody", file: "internal/control/hold.go",
		old: "g.paused, g.labels, g.elsewhere, g.checkout,", new: "g.paused, g.labels, g.checkout,",
		pkg: "internal/control", test: "TestAWorktreeElsewhereHoldsWhoeverAsks",
	},
	{
		name: "work is let go from a node that lives", file: "internal/control/tree_release.go",
		old: "	if node != nil {", new: "	if false {",
		pkg: "internal/control", test: "TestAWorktreeElsewhereHoldsWhoeverAsks",
	},
	{
		name: "a late push of a dead node replaces a checkpoint", file: "internal/workspace/checkpoint.go",
		old: `"--force-with-lease="+ref+":"+from, "--"`, new: `"--force", "--"`,
		pkg: "internal/workspace", test: "TestALatePushDoesNotWin",
	},
	{
		name: "a full step takes one more", file: "internal/control/claim_take.go",
		old: "	if n == 0 {\n		return false, nil", new: "	if n == 0 {\n		return true, nil",
		pkg: "internal/control", test: "TestAFullStepTakesNoMore",
	},

	// The ladder.
	{
		name: "a retry has no jitter", file: "internal/policy/ladder.go",
		old: "func Spread(fraction float64) float64 { return 2*fraction - 1 }", new: "func Spread(fraction float64) float64 { return 0 * fraction }",
		pkg: "internal/policy", test: "TestSpread",
	},

	// One task's deliveries come before anybody's command.
	{
		name: "a lock delivers nothing", file: "internal/control/outbox.go",
		old: "err != nil || !around.Outbox {", new: "err != nil || !around.Outbox || true {",
		pkg: "internal/control", test: "TestR39_ParentInItsOwnFullStep",
	},
}

// harmless changes nothing: the harness has to say that its test stays green.
var harmless = mutant{
	name: "harmless", file: "internal/policy/holdtime.go", old: "const MaxRepeat = time.Hour", new: "const MaxRepeat = 60 * time.Minute",
	pkg: "internal/policy", test: "TestAgainAfter",
}
