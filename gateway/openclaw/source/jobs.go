package source

import "time"

// Job is a scheduled job in parley's terms. Exactly one of At, Every and Cron is set.
type Job struct {
	What     string // place in OpenClaw's folder, for the report
	Name     string
	Agent    string // OpenClaw's id; "" = the default agent
	Message  string
	At       time.Time
	Every    time.Duration
	Cron     string
	Zone     string // IANA name
	To       JobTarget
	Model    string
	Thinking string
	Timeout  time.Duration
	Off      bool
}

// JobTarget is where the answer goes. The zero value is nowhere; Last is the chat that wrote last.
type JobTarget struct {
	Last                         bool
	Channel, Account, To, Thread string // as OpenClaw writes them
}
