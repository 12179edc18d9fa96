package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"parley/cmd/internal/tables"
	"slices"
	"strings"
	"time"

	"parley/agent/lessons"
	"parley/channels"
	"parley/gateway"
	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/models"
	"parley/sessions"
)

type modelsCmd struct {
	List   modelsListCmd   `cmd:"" default:"withargs" help:"List the language models, what is known of each, and from where."`
	Forget modelsForgetCmd `cmd:"" help:"Forget the refusals learned from model endpoints, so that the host tries again."`
	Test   modelsTestCmd   `cmd:"" help:"Test a model's real endpoint with a plain, a tool, an image and a thinking turn."`
}

// Help explains the columns.
func (modelsCmd) Help() string {
	return "Behind each fact stands where it is from: c configuration, l learned, a asked of the server, k catalogue, g guess.\n\nExamples:\n\n  parley models\n  parley models --json | jq '.[] | {name, window, from}'\n  parley models test ollama/qwen3:8b\n  parley models forget openai/gpt-5.1"
}

type modelsListCmd struct {
	asJSON
}

// Run lists the models: the running host's, else those of the configuration.
func (c modelsListCmd) Run(e *env) error {
	list, err := request[[]api.Model](e, "GET /api/models", api.None{})
	if errors.Is(err, errNotRunning) {
		m, conf, openErr := offHost(e)
		if openErr != nil {
			return openErr
		}
		list, err = m.List(e.ctx, conf.Agents), nil
	}
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, list, printModels)
}

// offHost makes the models of the configuration where no host runs.
func offHost(e *env) (gateway.Models, *config.Config, error) {
	c, err := load(e)
	if err != nil {
		return gateway.Models{}, nil, err
	}
	return gateway.OpenModels(e.ctx, c, tables.Providers(), configfile.WithEnvFile(c.Path, os.Getenv), slog.New(slog.DiscardHandler)), c, nil
}

// origins are the letters that stand for where a fact is from.
var origins = map[models.Origin]string{models.Configured: "c", models.Learned: "l", models.Asked: "a", models.Catalogued: "k", models.Guessed: "g", models.BuiltIn: "c"}

// withOrigin writes a fact with where it is from; nothing where it is not known.
func withOrigin(fact string, from models.Origin) string {
	if from == "" || fact == "" {
		return ""
	}
	return fact + " " + origins[from]
}

func printModels(p *page, list []api.Model) {
	g := p.grid("MODEL", "WINDOW", "PRICE IN/OUT", "PICTURES", "TOOLS", "~THINKING", "~TROUBLE")
	for _, m := range list {
		g.row(m.Name+mark(m.Default, " (default)"), withOrigin(mark(m.Window > 0, short(m.Window)), m.From.Window), withOrigin(priceWords(m), m.From.Price),
			withOrigin(yesNo(m.Images), m.From.Images), withOrigin(yesNo(m.Tools), m.From.Tools), withOrigin(levelWords(m), m.From.Levels), m.Trouble)
	}
	g.print("There are no models.")
	if len(list) == 0 {
		return
	}
	p.note("prices in dollars for a million tokens; from: c configuration, l learned, a asked, k catalogue, g guess\n")
	for _, m := range list {
		for _, n := range m.Notes {
			p.painted(yellow, "! "+chatclient.OneLine(n.String()))
		}
	}
	for _, m := range list {
		for _, l := range m.Lessons {
			p.printf("%s: %s\n", chatclient.OneLine(m.Name), chatclient.OneLine(lessonWords(l, p.ago(l.At))))
		}
	}
}

func yesNo(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

// priceWords writes what a million tokens cost; "" = that is not known.
func priceWords(m api.Model) string {
	if m.Input == 0 && m.Output == 0 {
		return mark(m.From.Price == models.BuiltIn, "free")
	}
	return fmt.Sprintf("%v/%v", m.Input, m.Output)
}

func levelWords(m api.Model) string {
	switch {
	case m.From.Levels == "":
		return ""
	case len(m.Levels) == 0:
		return "no"
	}
	return strings.Join(m.Levels, " ")
}

// lessonWords says what was learned, since when, and what taught it.
func lessonWords(l sessions.Lesson, when string) string {
	if l.Kind == "window" {
		return fmt.Sprintf("takes %s tokens (%s: %q)", l.Use, when, l.Evidence)
	}
	what := l.Kind
	if l.Kind == "images" && l.Name != "" { // its name is a checksum, which says nothing to people
		what = "one picture"
	} else {
		for _, part := range []string{l.Name, l.Value} {
			if part != "" {
				what += " " + part
			}
		}
	}
	said := "refused " + what
	if l.Use != "" {
		said += ", sent instead: " + l.Use
	}
	if plain := plainLesson(l); plain != "" {
		said = plain
	}
	said += " (" + when
	if l.Evidence != "" {
		said += fmt.Sprintf(": %q", l.Evidence)
	}
	return said + ")"
}

// plainLesson words a lesson whose fields say nothing to people; "" for another one.
func plainLesson(l sessions.Lesson) string {
	before := ""
	if at, err := time.Parse(time.RFC3339, l.Use); err == nil {
		before = at.Local().Format("2006-01-02 15:04")
	}
	switch {
	case l.Kind == lessons.History && before != "":
		return "calls from before " + before + " are told as text"
	case l.Kind == lessons.History:
		return "calls of earlier steps are told as text"
	case l.Kind == lessons.Reasoning && before != "":
		return "reasoning from before " + before + " is not sent back"
	case l.Kind == lessons.Reasoning && l.Name != "":
		return "one item of reasoning is not sent back"
	case l.Kind == lessons.Reasoning && l.Use == lessons.OmitReasoning:
		return "reasoning of earlier steps is not sent back"
	case l.Kind == lessons.Reasoning:
		return "reasoning of earlier steps is sent back, with a placeholder where there is none"
	case l.Kind == lessons.Rename:
		return "calls " + l.Name + " " + l.Use
	case l.Kind == lessons.MaxMessages:
		return "takes " + l.Use + " messages of a transcript, older ones are summed up"
	case l.Kind == lessons.MaxText:
		return "takes " + l.Use + " characters in a message, the rest is cut off"
	case l.Kind == lessons.ToolTexts && l.Name == lessons.Arguments:
		return "takes descriptions of tools' arguments of " + l.Use + " bytes"
	case l.Kind == lessons.ToolTexts:
		return "takes descriptions of tools of " + l.Use + " bytes"
	case l.Kind == lessons.ToolNames:
		return "takes letters and digits only in the names of tools"
	case l.Kind == lessons.MaxTools:
		return "takes " + l.Use + " tools"
	}
	return ""
}

type modelsForgetCmd struct {
	Name *string `arg:"" name:"model" optional:"" placeholder:"PROVIDER[/MODEL]" help:"Only what is known of this provider or model; without it all."`
	asJSON
}

// Run forgets lessons.
func (c modelsForgetCmd) Run(e *env) error {
	var call api.ForgetCall
	if c.Name != nil {
		ok := false
		if call.Provider, call.Model, ok = strings.Cut(*c.Name, "/"); strings.TrimSpace(call.Provider) == "" || ok && strings.TrimSpace(call.Model) == "" {
			return failed(exitUsage, "usage", "%q names no model: want PROVIDER or PROVIDER/MODEL; without an argument all lessons are forgotten", *c.Name)
		}
	}
	x, err := request[api.Forgotten](e, "POST /api/models/forget", call)
	if err != nil {
		return err
	}
	if x.Lessons == 0 && c.Name != nil {
		if err := unknownModel(e, *c.Name); err != nil {
			return err
		}
	}
	return tell(e, c.asJSON, x, func(p *page, x api.Forgotten) {
		if x.Lessons == 0 {
			p.printf("There was nothing to forget.\n")
			return
		}
		p.printf("Forgot %s: the next calls try again.\n", channels.Plural(x.Lessons, "lesson"))
	})
}

// maxNear bounds how many names are suggested in the place of an unknown one.
const maxNear = 3

// unknownModel returns an error for a name that is neither a provider nor a model that the host knows, with the names that are near;
// nil = it is one.
func unknownModel(e *env, name string) error {
	list, err := request[[]api.Model](e, "GET /api/models", api.None{})
	if err != nil {
		return err
	}
	var known []string
	add := func(n string) {
		if !slices.Contains(known, n) {
			known = append(known, n)
		}
	}
	for _, m := range list {
		provider, _, _ := strings.Cut(m.Name, "/")
		add(provider)
		add(m.Name)
	}
	if c, err := load(e); err == nil { // a provider of which no model is named
		for provider := range c.Models.Providers {
			add(provider)
		}
	}
	if slices.Contains(known, name) {
		return nil
	}
	var near []string
	for _, k := range known {
		_, model, _ := strings.Cut(k, "/") // the provider may have been left out
		if _, ok := config.Closest(name, []string{k, model}); ok && len(near) < maxNear {
			near = append(near, k)
		}
	}
	hint := "parley models lists them"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return failed(exitMissing, "not_found", "there is no model or provider %q: %s", name, hint)
}

type modelsTestCmd struct {
	Name string `arg:"" name:"model" optional:"" placeholder:"PROVIDER/MODEL" help:"The model; without it the one that answers."`
	asJSON
}

// Help says what it costs, and the exit code.
func (modelsTestCmd) Help() string {
	return "It makes up to five real calls of some hundred tokens each. Exit code 0: the plain turn works. A running host makes the calls, so that it keeps what is learned; without one this program does."
}

// testLimit bounds a test: each of its four turns, and a little more.
const testLimit = 4*models.TurnTimeout + time.Minute

// Run tests a model; exit code 1 when the plain turn does not work.
func (c modelsTestCmd) Run(e *env) error {
	x, err := requestOnce[models.Trial](e, "POST /api/models/test", api.ModelTest{Model: c.Name}, "", testLimit)
	if errors.Is(err, errNotRunning) {
		m, _, openErr := offHost(e)
		if openErr != nil {
			return openErr
		}
		x, err = m.Test(e.ctx, c.Name)
	}
	if err != nil {
		return err
	}
	if err := tell(e, c.asJSON, x, printTrial); err != nil {
		return err
	}
	if !x.OK {
		return failed(exitFailed, "failed", "%s does not answer a plain turn", x.Model)
	}
	return nil
}

func printTrial(p *page, x models.Trial) {
	p.printf("%s\n", chatclient.OneLine(x.Model))
	for _, t := range x.Turns {
		sign, paint := "✗", red
		switch {
		case t.OK:
			sign, paint = "✓", green
		case t.Skipped:
			sign, paint = "–", yellow
		}
		p.painted(paint, sign+" "+t.Turn+": "+chatclient.OneLine(t.What))
		if t.Said != "" && !strings.Contains(t.What, t.Said) {
			p.printf("    the provider says: %s\n", chatclient.OneLine(t.Said))
		}
		if !t.Skipped {
			p.printf("    %d ms, %s tokens in, %s out%s\n", t.Millis, short(t.Usage.Input), short(t.Usage.Output), mark(t.Usage.Cost > 0, ", "+cost(t.Usage.Cost)))
		}
		for _, l := range t.Learned {
			p.printf("    learned: %s\n", chatclient.OneLine(lessonWords(l, p.ago(l.At))))
		}
	}
	if x.Cost > 0 {
		p.note("%s in all\n", cost(x.Cost))
	}
}
