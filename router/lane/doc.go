// Package lane runs each session's work in order, on a bounded number of slots.
//
// It stands between filestore and chain. An Executor has a lane for each session that has work; a lane does one run at a time, and gives
// its slot back when its session has no more. One person has at most half of the slots; owners have an eighth more of their own (slots.go).
// A tool that waits gives its slot back with WithoutSlot. A Reservation keeps an idle lane and a slot for a run that the next commit
// queues.
//
// Lock order: Executor.mu, then slots.mu. The func Executor.Changed is called under Executor.mu and must not block. Each lane has one
// goroutine, which ends when its session has no work. The causes ErrStopped, ErrReset, ErrInterrupted and ErrRestartTry end the context of
// a run.
package lane
