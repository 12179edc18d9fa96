package operations

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"parley/gateway/api"
	"parley/gateway/backup"
	"parley/gateway/config"
	"parley/sessions/sqlstore"
)

// Backup is the operation that copies the state of the host.
type Backup struct {
	config  func() *config.Config
	store   *sqlstore.Store
	version string
	log     *slog.Logger
	copying *sync.Mutex // held while a backup is made
}

// Table lists the operations.
func (o *Backup) Table() api.Table {
	return api.Table{
		api.Stream[api.BackupQuery, []byte]("backup", "GET /api/backup", api.Admin,
			"Back up the current state as a tar file in gzip. The file holds secrets. A truncated response is not a backup.", "application/gzip", o.backup),
	}
}

// backup streams an archive. One at a time: each needs as much room as the database.
func (o *Backup) backup(w http.ResponseWriter, r *http.Request) {
	q, err := api.Decode[api.BackupQuery](w, r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	if !o.copying.TryLock() {
		api.WriteError(w, api.Refuse(http.StatusConflict, "another backup is running: wait until it has finished"))
		return
	}
	defer o.copying.Unlock()
	c := o.config()
	src := backup.Source{State: c.State, Config: c.Path, Media: q.Media, Program: o.version}
	if c.Store.DSN.IsZero() {
		src.Database = o.store.Backup
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := &archiveWriter{w: w, name: time.Now().UTC().Format("parley-20060102T150405Z.tar.gz")}
	m, err := backup.Write(ctx, out, src)
	switch {
	case err == nil:
		o.log.Info("backup created", "files", len(m.Files), "bytes", m.Bytes(), "by", api.Caller(r.Context()).Name)
	case !out.begun:
		api.WriteError(w, err)
	default:
		o.log.Error("backup failed", "err", err)
		_, _ = out.Write(backup.Failure(err))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // the client sees that the answer is cut off, and reads why in its last bytes
	}
}

// archiveWriter writes the head of the answer with its first bytes: until then there may be an error to tell.
type archiveWriter struct {
	w     http.ResponseWriter
	name  string
	begun bool
}

func (a *archiveWriter) Write(p []byte) (int, error) {
	if !a.begun {
		a.begun = true
		_ = http.NewResponseController(a.w).SetWriteDeadline(time.Time{}) // a backup takes as long as it takes; the writer need not have one
		a.w.Header().Set("Content-Type", "application/gzip")
		a.w.Header().Set("Content-Disposition", `attachment; filename="`+a.name+`"`)
		a.w.Header().Set("Cache-Control", "no-store")
	}
	return a.w.Write(p)
}
