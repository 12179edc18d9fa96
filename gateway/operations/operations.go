package operations

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/gateway/server"
	"parley/policy"
	"parley/router"
	"parley/router/inbound"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools/mcp"
)

// Deps are the parts of a host that its operations use.
type Deps struct {
	Config   func() *config.Config // in force
	Adapters []accounts.Adapter
	Store    *sqlstore.Store
	Router   *router.Router
	Models   *models.Set
	Accounts *accounts.Supervisor
	Servers  *mcp.Servers
	Server   *server.Server
	Health   *server.Health
	Page     http.Handler // of the chat of the page
	Redact   func(string) string
	Log      *slog.Logger
	Version  string
	Began    time.Time // of the process
	Process  api.Process
	Reload   func(context.Context) ([]config.Change, error)
	Quit     func()          // makes the host stop
	Stopping <-chan struct{} // closed when the host begins to stop
}

// Table is the whole API of a host: the command line, the page and outside programs use nothing else.
func Table(d Deps) api.Table {
	names := &Resolver{d.Store, d.Config}
	size := func(ctx context.Context) int { return PromptSize(ctx, d.Servers) }
	list := &Models{d.Router, d.Models, d.Store, size, d.Redact}
	return slices.Concat(
		(&Status{d.Config, d.Store, d.Router, list, d.Accounts, d.Servers, d.Server, d.Health, d.Version, d.Began, d.Process}).Table(),
		(&Lifecycle{d.Config, d.Process, d.Reload, d.Quit, d.Log}).Table(),
		(&Browsers{d.Server}).Table(),
		(&Explain{d.Router, names}).Table(),
		(&Trace{d.Store, names}).Table(),
		(&Agents{d.Store, d.Router}).Table(),
		(&Usage{d.Store}).Table(),
		list.Table(),
		(&Sessions{d.Store, d.Router, d.Models, names}).Table(),
		(&Runs{d.Config, d.Store, d.Router, d.Stopping, names}).Table(),
		(&Events{d.Router, d.Accounts, Positions{d.Began}, d.Stopping, names}).Table(),
		(&Deliveries{d.Store, d.Router, names}).Table(),
		(&Pairing{d.Adapters, d.Store, d.Router, names}).Table(),
		(&Channels{d.Config, d.Accounts}).Table(),
		(&Jobs{d.Config, d.Store, d.Router, names}).Table(),
		(&Backup{d.Config, d.Store, d.Version, d.Log, new(sync.Mutex)}).Table(),
		(&Page{d.Page}).Table(),
	)
}

// notNil returns a list that is never null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// clientError makes an error of the router one that says what it is to a client.
func clientError(err error) error {
	var blocked *policy.BlockedError
	switch {
	case errors.Is(err, sessions.ErrBadRequest):
		return api.Bad("%s", strings.TrimPrefix(err.Error(), sessions.ErrBadRequest.Error()+": "))
	case errors.As(err, &blocked):
		return &api.Error{Status: http.StatusForbidden, Code: "withheld", Message: err.Error(), Rule: blocked.Verdict.Rule}
	case errors.Is(err, inbound.ErrQueueFull):
		return &api.Error{Status: http.StatusTooManyRequests, Code: "too_many", Message: err.Error(), After: 5 * time.Second}
	}
	return err
}
