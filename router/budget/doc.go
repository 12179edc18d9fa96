// Package budget reserves model calls against daily budgets and records their cost.
//
// It stands between commit and rights. A Tracker counts what each session, agent and the host may still spend today; a Meter is the part of
// it for one run. The ledger in the store has what was spent; the counts in memory add the calls under way.
//
// A call that a budget refuses fails with agent.BudgetError: the loop stops there, and turn/budget.go ends the run with a notice.
//
// Tracker.mu is a leaf: the ledger is read before it is taken. The package starts no goroutine. A call near a bound waits until those under
// way have ended.
//
// An agent.BudgetError names the scope that is used up and when it ends; an agent.ModelError says that a model has no price.
package budget
