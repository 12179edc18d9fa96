// Package turn claims a session's next run, runs the agent on it, and commits the outcome.
//
// It stands between rights and cron. A Worker does one run of a session at a time, called by the session's lane. Its parts are: Merger, which joins
// messages that wait (debounce.go has the quiet time before a collected turn, merge.go what is joined); Transcripts, which reads the history of a
// session and keeps the newest of it in memory; compact.go, which compacts a long history: when the model's window is nearly full (agent compares
// before each call), a summary replaces the older messages; budget.go, which ends a turn that a budget refuses; Pictures, which fetches the pictures
// that a model is shown; limitOf in turn.go, which says how long a turn may last; prompt.go also lists the models that
// answer when the first cannot (agent/candidates.go goes through them). The texts of prompts are in prompts/.
//
// The mutex of the cache of transcripts is a leaf. The lane's goroutine runs the turn; pictures are fetched in goroutines that end before the call of
// the model begins.
//
// What ends a turn is its outcome: Process returns no error. The cause of its context says who ended it: see lane. The store is asked until it
// answers or the host stops.
package turn
