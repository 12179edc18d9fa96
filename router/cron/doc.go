// Package cron starts the turns of scheduled jobs exactly once per due time.
//
// It stands right of turn and left of toolhost, and imports settings, event, chain, delivery, commit and budget of the router's packages. A Scheduler
// fires what is due, makes up once for times that were missed, and adds, changes and removes jobs.
//
// Jobs are in the store. Scheduler.firing is held over calls of the store on purpose: whether an earlier turn is over and the next one's
// commit must not have another firing between them. Under it are only the locks of commit and of what commit calls. Run is the one goroutine;
// the router starts it, and it ends with its context.
//
// Errors wrap ErrBadRequest for a job that cannot be, ErrNotFound, and ErrConflict where a turn of the job is not over.
package cron
