package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"parley/cmd/internal/tables"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // zones by name on hosts without a zone database
	"unicode"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/config/schema"
	"parley/gateway/configfile"
	"parley/tools/mcp/confine"
)

type runCmd struct{}

// Run runs the host until a signal ends it. SIGHUP reads the configuration again.
func (runCmd) Run(e *env) error {
	c, err := loadAloud(e)
	if err != nil {
		return err
	}
	log := logger(c.Log, os.Stderr)
	slog.SetDefault(log) // for libraries that log there; parley's own code is given its logger
	growLess(os.Getenv("GOGC"))
	table := accounts.Table(tables.Adapters())
	getenv := configfile.WithEnvFile(c.Path, os.Getenv)
	work := newWorkload()
	h, err := gateway.Open(e.ctx, gateway.Deps{
		Config: config.NewLive(c, table, getenv), Adapters: tables.Adapters(), Providers: tables.Providers(),
		Log: log, Version: version, Getenv: getenv, Process: thisProcess(os.Stderr), Began: e.began, Trace: e.trace,
		Busy:    work.set,
		Confine: confine.Launcher{"/proc/self/exe", confine.Command}, // this very program, also when its file is replaced meanwhile
	})
	if err != nil {
		return err
	}
	ctx, hangUp := context.WithCancel(e.ctx)
	defer hangUp()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	go reload(ctx, h, hup, log, hangUp)
	fmt.Print(h.Screen(ctx, time.Since(e.began), term.IsTerminal(int(os.Stdout.Fd())))) // files and journals get no link
	go slim(ctx, work, collections, func() {
		debug.FreeOSMemory()
		releaseStartPages()
	})
	return h.Run(ctx)
}

// reload reads the configuration again at every SIGHUP. When the terminal that the host was started in has gone, the same signal
// means that it should go too.
func reload(ctx context.Context, h *gateway.Host, hup <-chan os.Signal, log *slog.Logger, hangUp func()) {
	onTerminal := term.IsTerminal(int(os.Stdin.Fd()))
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if onTerminal && !term.IsTerminal(int(os.Stdin.Fd())) {
				log.Info("terminal closed; shutting down")
				hangUp()
				return
			}
			if err := h.Reload(ctx); err != nil {
				log.Error("configuration not reloaded", "err", err, "hint", "the last valid configuration stays in force; run parley check")
			}
		}
	}
}

// load reads the configuration, or makes one out of nothing. Warnings are for those who check it or start a host.
func load(e *env) (*config.Config, error) {
	c, _, err := loadWarned(e)
	return c, err
}

// loadAloud is load that writes the warnings to standard error.
func loadAloud(e *env) (*config.Config, error) {
	c, problems, err := loadWarned(e)
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	return c, err
}

func loadWarned(e *env) (*config.Config, []config.Problem, error) {
	table := accounts.Table(tables.Adapters())
	path, err := e.configFile()
	switch {
	case err != nil:
		return nil, nil, err
	case path == "":
		return config.Default(table, os.Getenv), nil, nil
	}
	if _, err := configfile.ReadEnv(filepath.Join(filepath.Dir(path), configfile.EnvName)); err != nil {
		return nil, nil, usageError{err}
	}
	c, problems, err := config.Load(path, table, configfile.WithEnvFile(path, os.Getenv))
	if err != nil {
		if _, invalid := errors.AsType[*config.Invalid](err); !invalid {
			return nil, nil, err
		}
		if path == configfile.Name && e.config == "" {
			err = fmt.Errorf("%w\nparley took this file from the current folder; name another with --config FILE", err)
		}
		return nil, problems, usageError{err}
	}
	return c, problems, nil
}

// onlyLine quotes a message with line ends in it, or with other characters that nobody sees or that turn text around: what somebody sent is no
// line of its own. Attributes are quoted anyway.
func onlyLine(groups []string, a slog.Attr) slog.Attr {
	if text := a.Value.String(); len(groups) == 0 && a.Key == slog.MessageKey && strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return slog.String(a.Key, strconv.Quote(text))
	}
	return a
}

// logger makes the log: text on a terminal, JSON otherwise.
func logger(c config.Log, f *os.File) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(c.Level)) // checked with the configuration
	if c.Format == "text" || c.Format == "auto" && term.IsTerminal(int(f.Fd())) {
		return slog.New(tint.NewTextHandler(f, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: !term.IsTerminal(int(f.Fd())), ReplaceAttr: onlyLine}))
	}
	return slog.New(slog.NewJSONHandler(f, &slog.HandlerOptions{Level: level}))
}

type configCmd struct {
	Schema    schemaCmd    `cmd:"" help:"Print the JSON Schema of the configuration."`
	Reference referenceCmd `cmd:"" help:"Print the reference of the configuration."`
}

type schemaCmd struct {
	asJSON // it is JSON either way
}

func (schemaCmd) Run() error {
	b, err := schema.JSON(accounts.Table(tables.Adapters()))
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(b)
	return err
}

type referenceCmd struct{}

func (referenceCmd) Run() error {
	_, err := os.Stdout.Write(schema.Reference(accounts.Table(tables.Adapters())))
	return err
}
