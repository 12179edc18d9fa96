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
		Log: log, Version: version, Getenv: getenv, Began: e.began, Trace: e.trace,
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
				log.Info("the terminal is closed")
				hangUp()
				return
			}
			if err := h.Reload(ctx); err != nil {
				log.Error("the configuration was not read again; the last good one stays in force", "err", err)
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
		if _, invalid := errors.AsType[*config.Invalid](err); invalid {
			return nil, nil, usageError{err}
		}
		return nil, nil, err
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

type checkCmd struct {
	asJSON
}

// checked is what parley check prints as JSON.
type checked struct {
	File     string `json:"file"` // "" = there is none
	Accounts int    `json:"accounts"`
	Agents   int    `json:"agents"`

	Prices []config.CataloguePrice `json:"prices,omitempty"` // that count into budgets in dollars, and are not in the file
}

// Run reports everything that is wrong with the configuration; exit code 2 when it cannot be used.
func (c checkCmd) Run(e *env) error {
	words := func(p *page, v checked) {
		if v.File == "" {
			p.printf("There is no configuration file: parley runs with its defaults.\n")
			return
		}
		p.printf("%s is good: %d accounts, %d agents.\n", v.File, v.Accounts, v.Agents)
		for _, m := range v.Prices {
			p.printf("%s counts into budgets in dollars at the catalogue's price: $%v in, $%v out for a million tokens. Set input and output in models.providers.*.models.* for another.\n", m.Model, m.Input, m.Output)
		}
	}
	path, err := e.configFile()
	switch {
	case err != nil:
		return err
	case path == "":
		return tell(e, c.asJSON, checked{Agents: 1}, words)
	}
	conf, err := load(e)
	if err != nil {
		return err
	}
	problems, err := conf.ForHost()
	if err != nil {
		return usageError{err}
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	return tell(e, c.asJSON, checked{path, len(conf.Channels), max(len(conf.Agents.List), 1), conf.CataloguePrices()}, words)
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
