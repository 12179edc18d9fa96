package openclaw

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"parley/gateway/config"
	"parley/gateway/openclaw/database"
	"parley/gateway/openclaw/history"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/source"
)

// reader is one import.
type reader struct {
	root    *os.Root // whatever a file names, nothing outside is read
	files   fs.FS
	mainKey string
	global  bool // session.scope

	hasWorkspace bool     // the configuration names one
	read         []string // files and folders that are no sessions
	*Result
}

// Read reads a state folder. It changes nothing. progress gets the number of sessions that were read; nil = nobody looks. The Result needs Close.
func Read(ctx context.Context, dir string, table config.Table, getenv func(string) string, progress func(done, total int)) (_ *Result, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	r := &Result{root: root, databases: database.New(root)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	x := &reader{root: root, files: root.FS(), mainKey: "main", Result: r}
	found, err := x.settle(ctx, table, getenv)
	if err != nil {
		return nil, err
	}
	if !found && !x.has("agents") && !x.has("sessions/sessions.json") && !x.has(database.Shared) {
		return nil, fmt.Errorf("%s is no state folder of OpenClaw: it has no %s and no folder agents", dir, source.Names[0])
	}
	h, err := history.Read(ctx, history.Folder{Root: root, Databases: r.databases, IDs: ids.Adapters{Table: table}, Report: &r.Report, MainKey: x.mainKey, Global: x.global, Parse: source.ParseJSON5, Progress: progress,
		IsOwner: r.mainOwner()})
	if err != nil {
		return nil, err
	}
	r.Sessions = h.Sessions
	h.Rest(x.read...)
	if x.has("workspace") && !x.hasWorkspace {
		r.Report.Leave("workspace", "copy what you need to the agent's workspace in parley's state folder: parley reads AGENTS.md and SOUL.md there too")
	}
	r.Report.Sort()
	return r, nil
}

func (x *reader) has(name string) bool {
	_, err := fs.Stat(x.files, name)
	return err == nil
}
