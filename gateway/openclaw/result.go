package openclaw

import (
	"context"
	"errors"
	"fmt"
	"os"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/openclaw/convert"
	"parley/gateway/openclaw/database"
	"parley/gateway/openclaw/history"
	"parley/gateway/openclaw/report"
	"parley/sessions"
)

// Result is the configuration and the sessions made from a state folder, with the report. Close ends it.
type Result struct {
	Report   report.Report
	Config   []byte                     // the configuration; nil when there was none
	Parsed   *config.Config             // Config as parley reads it, with made-up values for Unset; nil when parley refuses it
	Unread   string                     // name of OpenClaw's configuration file, if it cannot be read
	Needs    []string                   // variables that it takes from the environment and that nothing here sets
	Unset    map[string]string          // Needs, each with a made-up value that the configuration takes
	Secrets  map[string]channels.Secret // that it takes from the environment, by name
	Sessions []history.Imported
	Jobs     []Job
	Notes    []sessions.AddNote // memory of the agents, visible from their main sessions
	Paired   []convert.Person   // whom parley should keep as paired; see KeepPaired

	root      *os.Root
	databases *database.Folder
	port      int // of the gateway; 0 = the configuration names none
}

// Close removes the copies of databases and closes the folder. Sessions that are not in memory cannot be read any more.
func (r *Result) Close() error { return errors.Join(r.databases.Close(), r.root.Close()) }

// Store takes sessions; sqlstore.Store is one.
type Store interface {
	Import(ctx context.Context, list []sessions.Import) ([]sessions.ImportOutcome, error)
}

// Stored is what an import changed in a store.
type Stored struct {
	New, Extended, Same int
	Left                []sessions.Key // they have other messages in parley
	Messages            int            // that were added
}

// The bounds of one commit.
const (
	commitSessions = 200
	commitMessages = 10_000
	commitBytes    = 64 << 20 // of the events of the sessions
)

// Store writes the sessions to a store, many in one commit. progress gets the number of sessions that are stored; nil = nobody looks. A second
// run adds what is new. After an error the sessions before it are stored.
func (r *Result) Store(ctx context.Context, to Store, progress func(done, total int)) (out Stored, err error) {
	var batch []sessions.Import
	messages, done := 0, 0
	size := int64(0)
	commit := func() error {
		outcomes, err := to.Import(ctx, batch)
		if err != nil {
			return fmt.Errorf("import session %s: %w", batch[0].Session.Key, err)
		}
		for i, o := range outcomes {
			switch o.State {
			case sessions.ImportNew:
				out.New++
			case sessions.ImportExtended:
				out.Extended++
			case sessions.ImportSame:
				out.Same++
			case sessions.ImportLeft:
				out.Left = append(out.Left, batch[i].Session.Key)
			}
			out.Messages += o.Added
		}
		done, messages, size = done+len(batch), 0, 0
		clear(batch)
		batch = batch[:0]
		if progress != nil {
			progress(done, len(r.Sessions))
		}
		return nil
	}
	for _, x := range r.Sessions {
		msgs, err := x.Messages(ctx)
		if err != nil {
			return out, err
		}
		if len(batch) > 0 && (messages+len(msgs) > commitMessages || size+x.Size > commitBytes) {
			if err := commit(); err != nil {
				return out, err
			}
		}
		batch, messages, size = append(batch, sessions.Import{Session: x.Session, Messages: msgs}), messages+len(msgs), size+x.Size
		if len(batch) == commitSessions {
			if err := commit(); err != nil {
				return out, err
			}
		}
	}
	if len(batch) > 0 {
		err = commit()
	}
	return out, err
}
