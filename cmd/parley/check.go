package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/config"
)

type checkCmd struct {
	asJSON
}

// Help shows examples.
func (checkCmd) Help() string {
	return "Exit code 0: the configuration is valid, perhaps with warnings. Exit code 2: the configuration has errors.\n\nExamples:\n\n  parley check\n  parley check --config new.yaml --json | jq .problems"
}

// checked is what parley check prints as JSON.
type checked struct {
	File     string           `json:"file"` // "" = there is none
	Valid    bool             `json:"valid"`
	Accounts int              `json:"accounts"`
	Names    []string         `json:"accountNames,omitempty"`
	Agents   int              `json:"agents"`
	Problems []config.Problem `json:"problems"`

	Prices []config.CataloguePrice `json:"prices,omitempty"` // that count into budgets in dollars, and are not in the file
}

// Run reports everything that is wrong with the configuration; exit code 2 when it cannot be used.
func (c checkCmd) Run(e *env) error {
	path, err := e.configFile()
	switch {
	case err != nil:
		return err
	case path == "":
		return tell(e, c.asJSON, checked{Valid: true, Agents: 1, Problems: []config.Problem{}}, sayChecked)
	}
	conf, problems, err := loadWarned(e)
	if err == nil {
		if problems, err = conf.ForHost(); err != nil {
			err = usageError{err}
		}
	}
	if _, invalid := errors.AsType[*config.Invalid](err); err != nil && (!invalid || !c.JSON) {
		return err
	}
	found := checked{File: path, Valid: err == nil, Problems: append([]config.Problem{}, problems...)}
	if conf != nil {
		found.File, found.Accounts, found.Names = conf.Path, len(conf.Channels), accountNames(conf.Channels)
		found.Agents, found.Prices = max(len(conf.Agents.List), 1), conf.CataloguePrices()
	}
	if told := tell(e, c.asJSON, found, sayChecked); told != nil {
		return told
	}
	if err != nil && c.JSON {
		return &failure{exit: exitUsage, code: "usage", text: err.Error(), isPrinted: true}
	}
	return err
}

func sayChecked(p *page, v checked) {
	if v.File == "" {
		p.printf("There is no configuration file, so parley uses its defaults. To write one, run parley init.\n")
		return
	}
	for _, problem := range v.Problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	warned := ""
	if n := len(v.Problems); n > 0 {
		warned = ", with " + channels.Plural(n, "warning")
	}
	_, accounts, _ := strings.Cut(channels.Plural(len(v.Names), "account"), " ") // the names stand behind it
	p.printf("%s is valid%s: %s; %s: %s.\n", v.File, warned, channels.Plural(v.Agents, "agent"), accounts, strings.Join(v.Names, ", "))
	for _, m := range v.Prices {
		p.printf("%s counts toward dollar budgets at the catalogue's price: $%v in, $%v out per million tokens. To use another price, set input and output in models.providers.*.models.*.\n", m.Model, m.Input, m.Output)
	}
}

// accountNames returns the names of accounts for people: of the account default, the name of its channel alone.
func accountNames(all config.Channels) []string {
	names := make([]string, 0, len(all))
	for _, a := range all {
		name := string(a.Kind)
		if a.Kind == "webchat" {
			name = "web chat"
		}
		if a.ID != channels.DefaultAccount {
			name += "/" + string(a.ID)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
