// Package cron starts the turns of scheduled jobs exactly once per due time.
//
// It stands between turn and toolhost. A Scheduler fires what is due, makes up once for times that were missed, and adds, changes and
// removes jobs. When a job is due is computed in sessions/schedule.go.
//
// Jobs are in the store, and the commit of a firing sees that no turn of the job is queued or running: no lock is held. Run is the one goroutine;
// the router starts it, and it ends with its context.
//
// Errors wrap ErrBadRequest for a job that cannot be, ErrNotFound, and ErrConflict where a turn of the job is not over.
package cron
