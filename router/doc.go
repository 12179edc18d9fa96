// Package router assembles the parts below it, starts and stops them, and offers the operators' actions.
//
// It stands left of gateway and right of agent. Inside it the import order is clock, settings, event, filestore, lane, chain, pace,
// delivery, commit, budget, rights, turn, cron, toolhost, admission, command, inbound. Events come in by Accept, other texts by Submit
// (package inbound); every message is sent by delivery.Dispatcher, which documents call the gate. Start resumes what a killed process
// left: Store.Recover queues its runs again, and delivery finds out what became of each send.
//
// A Router owns the parts and the settings in force, which Apply replaces as a whole. It has no lock of its own. One goroutine (upkeep.go)
// archives sessions, deletes old rows and files, and starts work that no worker has; one runs the scheduler of jobs; both end with the context of Start, and Stop waits for them.
package router
