package sessions

import (
	"context"
	"time"
)

// Ledger is the record of the costs of model calls. Record and Finish write a row for each assistant message with Usage, in their own commit, with
// the message's id; Spend writes those of calls that left no message. Rows stay when their session is deleted.
type Ledger interface {
	// Spend keeps what calls cost. A row whose ID is there already is left alone; an empty BilledTo is Key.
	Spend(ctx context.Context, rows ...Spend) error
	// Spent sums up.
	Spent(ctx context.Context, q SpentQuery) (Spent, error)
	// Spending sums up by day, agent and model, newest day first. Days are those of the given zone.
	Spending(ctx context.Context, q SpentQuery, zone *time.Location) ([]Spending, error)
	// Suspensions returns the budgets that do not count now, sorted by Scope.
	Suspensions(ctx context.Context, now time.Time) ([]BudgetSuspension, error)
}

// Spend is one model call that was paid for.
type Spend struct {
	ID       string // of the message that came of it, or one of its own
	Time     time.Time
	Run      RunID
	Key      Key // the session whose turn it was
	BilledTo Key // Session.Top, or Key itself of a session that was not spawned; Record and Finish look it up
	Agent    AgentID
	Model    string // provider/model
	Purpose  string // "" = a step of a turn; failed = a try that broke off after it was counted; compact = a summary
	Usage    Usage
}

// SpentQuery selects rows; empty fields select all.
type SpentQuery struct {
	BilledTo Key
	Agent    AgentID
	Since    time.Time
	Until    time.Time // only rows before it: a clock that was set back has later ones; zero = all
}

// Spent is a sum.
type Spent struct {
	Calls int
	Usage Usage
}

// Spending is a sum of one day, agent and model.
type Spending struct {
	Day   string // 2006-01-02
	Agent AgentID
	Model string
	Spent
}

// BudgetSuspension says until when a budget does not count.
type BudgetSuspension struct {
	Scope string // session:<key>, agent:<id>, host
	Until time.Time
}
