// Package ledgertest checks what a sessions.Store keeps of model calls: what each has cost, budgets that are lifted, and lessons about endpoints.
//
// It stands right of fixture; storetest runs it. ledger.go has costs and suspensions of budgets, lessons.go the lessons.
//
// It owns nothing.
package ledgertest
