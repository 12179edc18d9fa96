// Package runtest checks the life of a run in a sessions.Store: queued, claimed, recorded, finished, and recovered after a crash.
//
// It stands right of fixture; storetest runs it. claim.go has claims, deadlines and recovery; finish.go what the end of a run commits; merge.go the runs that a
// running turn takes in; queue.go those that give way to newer ones; trace.go the path from a message's id to what became of it; jobs.go the runs of
// scheduled jobs. random.go compares random operations with a model.
//
// It owns nothing. Runs that a stop ends are checked in stoptest, deliveries that a run makes in sendtest.
package runtest
