package control

import "github.com/fairlead/fairlead"

// timerKinds says what each kind of timer does when it fires. The handler runs in the transaction that consumes the
// timer's generation, with the timer's task locked if it has one. A refusal consumes the generation; an error leaves the
// timer due.
func timerKinds() map[string]func(w *work, t fairlead.Timer) error {
	return map[string]func(w *work, t fairlead.Timer) error{
		fairlead.TimerRunDue:       func(w *work, t fairlead.Timer) error { return w.runDue(t.Ref) },
		fairlead.TimerHold:         func(w *work, t fairlead.Timer) error { return w.holdOver(t.Ref) },
		fairlead.TimerHeartbeat:    (*work).beatDue,
		fairlead.TimerRoutine:      (*work).routineDue,
		fairlead.TimerRoutineWait:  (*work).waitingDue,
		fairlead.TimerBudgetPeriod: func(w *work, t fairlead.Timer) error { return w.budgetPeriod(t) },
	}
}
