// Package cron starts the turns of scheduled jobs exactly once per due time.
//
// It stands between turn and toolhost. A Scheduler fires what is due, makes up once for times that were missed, and adds, changes and
// removes jobs.
//
// Jobs are in the store. Scheduler.firing is held over calls of the store on purpose: between the check that an earlier turn is over and
// the commit of the next one, no other firing may come. Under it are only the locks of commit and of what commit calls. Run is the one
// goroutine; the router starts it, and it ends with its context.
//
// Errors wrap ErrBadRequest for a job that cannot be, ErrNotFound, and ErrConflict where a turn of the job is not over.
package cron
