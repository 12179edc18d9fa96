package operations

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"parley/gateway/api"
	"parley/gateway/config"
)

// Lifecycle are the operations that reload the configuration and stop the host.
type Lifecycle struct {
	config  func() *config.Config // in force
	process api.Process
	reload  func(context.Context) ([]config.Change, error)
	quit    func()
	log     *slog.Logger
}

// Table lists the operations.
func (o *Lifecycle) Table() api.Table {
	return api.Table{
		api.Op("host.reload", "POST /api/reload", api.Admin, "Reload the configuration. An invalid file changes nothing; the answer lists what changed, and which keys need a restart.", o.doReload),
		api.Op("host.stop", "POST /api/stop", api.Admin, "Stop the host. The answer comes before the host has stopped; a service manager may start it again.", o.stop),
	}
}

func (o *Lifecycle) doReload(ctx context.Context, _ api.None) (api.Reloaded, error) {
	changes, err := o.reload(ctx)
	if _, invalid := errors.AsType[*config.Invalid](err); invalid || errors.Is(err, config.ErrNoFile) {
		return api.Reloaded{}, &api.Error{Status: http.StatusUnprocessableEntity, Code: "invalid_config", Message: err.Error()}
	}
	if err != nil {
		return api.Reloaded{}, err
	}
	out := api.Reloaded{Config: o.config().Path, Changes: make([]api.ConfigChange, len(changes))}
	for i, c := range changes {
		out.Changes[i] = api.ConfigChange(c)
	}
	return out, nil
}

func (o *Lifecycle) stop(ctx context.Context, _ api.None) (api.Stopping, error) {
	o.log.Info("stop requested", "by", api.Caller(ctx).Name)
	o.quit()
	return api.Stopping{PID: o.process.PID}, nil
}
