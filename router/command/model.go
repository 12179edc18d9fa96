package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/router/budget"
	"parley/router/settings"
	"parley/sessions"
)

// maxModelsShown bounds the list of models in one answer.
const maxModelsShown = 50

// models lists the models that a person can choose from by a part of their names.
func (t *Table) models() []string {
	if t.names == nil {
		return nil
	}
	return t.names()
}

// modelNamed finds the models that a word can stand for: one by its whole name, provider/model, or by the model's name alone, where
// only one has it; otherwise all that have the word in their name.
func (t *Table) modelNamed(word string) (exact string, similar []string) {
	word = strings.ToLower(word)
	var same []string
	for _, m := range t.models() {
		lower := strings.ToLower(m)
		_, name, _ := strings.Cut(lower, "/")
		switch {
		case lower == word:
			return m, nil
		case name == word:
			same = append(same, m)
		}
		if strings.Contains(lower, word) {
			similar = append(similar, m)
		}
	}
	if len(same) == 1 {
		return same[0], nil
	}
	return "", similar
}

// ModelMeant gives the whole name of the model that a word means, as /model takes it: a whole name, or a part that only one has.
func (t *Table) ModelMeant(word string) (string, error) {
	unknown := t.modelKnown(word)
	if unknown == nil {
		return word, nil
	}
	name, similar := t.modelNamed(word)
	switch {
	case name == "" && len(similar) == 1:
		name = similar[0]
	case name == "" && len(similar) > 1:
		return "", fmt.Errorf("%.100q matches several models: %s", word, strings.Join(similar, ", "))
	case name == "":
		return "", unknown
	}
	return name, t.modelKnown(name)
}

// chooseModel returns the one model that a person's words mean, or says why there is none.
func (t *Table) chooseModel(word string) (name, no string) {
	name, similar := t.modelNamed(word)
	switch {
	case name != "":
	case len(similar) == 1:
		name = similar[0]
	case len(similar) > 1:
		return "", fmt.Sprintf("⚠️ %s matches several models:\n\n%s", channels.Code(word, 100), listModels(similar, ""))
	case strings.Contains(word, "/") && t.modelKnown(word) == nil:
		return word, "" // its provider is configured
	default:
		return "", fmt.Sprintf("⚠️ I do not know the model %s. `/model` lists the models that I know. For another model of a configured provider, write provider/model.", channels.Code(word, 100))
	}
	if err := t.modelKnown(name); err != nil {
		t.log.Warn("cannot use a configured model", keyErr, err)
		return "", fmt.Sprintf("⚠️ I cannot use %s: its provider is not set up. The details are in the log.", channels.Code(name, 100))
	}
	return name, ""
}

// cmdModel shows or sets the session's model.
func cmdModel(_ context.Context, r *Table, c Call) (Result, error) {
	word := c.Arg
	switch strings.ToLower(word) {
	case "":
		now := c.Set.ModelOf(c.Session)
		return Result{Text: fmt.Sprintf("⚙️ Model: %s\n\n%s\n`/model NAME` sets the model of this session; a part of the name is enough if it matches one model. `/model default` removes the setting.",
			r.modelWords(c.Set, c.Session), listModels(r.models(), now))}, nil
	case "default", "inherit":
		s := c.Session
		s.Settings.Model = ""
		return Result{Text: "⚙️ Model: " + r.modelWords(c.Set, s), Change: onSession(sessions.PatchSession{Model: new("")})}, nil
	}
	name, no := r.chooseModel(word)
	if no != "" {
		return Result{Text: no}, nil
	}
	if m, err := r.model(name); err == nil {
		if no := budget.CheckPriced(budget.LimitsOf(c.Set, c.Session, c.Session.Agent), m); no != nil {
			return Result{Text: "⚠️ " + no.Notice()}, nil
		}
	}
	s := c.Session
	s.Settings.Model = name
	return Result{Text: "⚙️ Model: " + r.modelWords(c.Set, s), Change: onSession(sessions.PatchSession{Model: &name})}, nil
}

// modelWords names a session's model, where that is set, and its fallbacks.
func (t *Table) modelWords(set *settings.Snapshot, s sessions.Session) string {
	now, entry := set.ModelOf(s), set.Entry(s.Agent)
	words := channels.Code(now, 100)
	if s.Settings.Model != "" {
		words += " (set for this session; the default is " + channels.Code(entry.Model, 100) + ")"
	}
	var then []string
	for _, f := range entry.Fallbacks {
		if f != now {
			then = append(then, channels.Code(f, 100))
		}
	}
	if len(then) > 0 {
		words += ", then " + strings.Join(then, ", ")
	}
	return words
}

func listModels(names []string, now string) string {
	var b strings.Builder
	for _, n := range names[:min(len(names), maxModelsShown)] {
		b.WriteString("- " + channels.Code(n, 100))
		if n == now {
			b.WriteString(" ←")
		}
		b.WriteString("\n")
	}
	if n := len(names) - maxModelsShown; n > 0 {
		fmt.Fprintf(&b, "- and %d more\n", n)
	}
	return b.String()
}

var thinkingLevels = []string{"off", "minimal", "low", "medium", "high"}

// cmdThink shows or sets how much the session's model thinks.
func cmdThink(_ context.Context, t *Table, c Call) (Result, error) {
	word, s := strings.ToLower(c.Arg), c.Session
	var change *sessions.Change
	switch {
	case word == "":
	case word == "default" || word == "inherit":
		s.Settings.Thinking, change = "", onSession(sessions.PatchSession{Thinking: new("")})
	case slices.Contains(thinkingLevels, word):
		s.Settings.Thinking, change = word, onSession(sessions.PatchSession{Thinking: &word})
	default:
		return Result{Text: "⚙️ Usage: /think " + strings.Join(thinkingLevels, "|") + "|default"}, nil
	}
	return Result{Text: "⚙️ Thinking: " + t.thinkingWords(c.Set, s) + ".", Change: change}, nil
}

// thinkingWords names how much a session's model thinks, and where that is set; and that it may think all the same, where its provider refuses to be
// told that it is not to, or its configured levels have no word for that.
func (t *Table) thinkingWords(set *settings.Snapshot, s sessions.Session) string {
	level := cmp.Or(s.Settings.Thinking, set.Entry(s.Agent).Thinking)
	words := cmp.Or(level, "the model's default")
	if s.Settings.Thinking != "" {
		words += " (set for this session)"
	}
	if level == "off" {
		name := channels.Code(set.ModelOf(s), 100)
		switch m, err := t.model(set.ModelOf(s)); {
		case err != nil:
		case m.Facts.OffRefused:
			words += ", but the provider of " + name + " does not accept that: the model may still think"
		case len(m.Facts.Reasoning.Levels) > 0 && agent.OffOf(m.Facts.Reasoning.Levels) == "":
			words += ", but off is not a configured level of " + name + ": the model may still think"
		}
	}
	return words
}

// modelKnown reports why a model cannot be used.
func (t *Table) modelKnown(name string) error {
	_, err := t.model(name)
	return err
}
