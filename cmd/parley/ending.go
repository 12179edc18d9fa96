package main

import (
	"fmt"
	"strings"

	"parley/gateway/api"
)

// outcomeEnding is how a command ends whose words had an outcome. docs/cli.md has the table of them.
type outcomeEnding struct {
	outcome  api.Outcome
	exit     int
	code     string // for programs; "" = it succeeded
	words    string // for people: what is said of the subject
	ofAnswer bool   // the subject is the answer of a run, not the run
	command  string // that shows more; "" = none
}

var outcomeEndings = []outcomeEnding{
	{api.Answered, 0, "", "is answered", false, ""},
	{api.Silent, 0, "", "is silent: the agent chose to say nothing", false, ""},
	{api.Done, 0, "", "has ended", false, ""},
	{api.Empty, exitFailed, "no_answer", "has no answer", false, "parley runs show"},
	{api.Failed, exitFailed, "run_failed", "failed", false, "parley runs show"},
	{api.Withheld, exitRefused, "withheld", "is withheld from the chat: send blocked by session policy", true, "parley policy explain"},
	{api.Stopped, exitStopped, "stopped", "was stopped", false, ""},
	{api.TimedOut, exitOverrun, "run_timeout", "reached its time limit", false, ""},
	{api.Undelivered, exitUndelivered, "undelivered", "did not arrive: the platform refused it", true, "parley deliveries list"},
	{api.Expired, exitUndelivered, "expired", "did not arrive: the host could not send it before it expired", true, "parley deliveries list"},
	{api.Held, exitUndelivered, "held", "is held: it may have arrived, and a person must retry or drop it", true, "parley deliveries list"},
	{api.Dropped, exitUndelivered, "dropped", "did not arrive: a person dropped it", true, "parley deliveries list"},
}

// endingOf gives the ending of an outcome. One that this program does not know, of a newer host, is a failure.
func endingOf(o api.Outcome) outcomeEnding {
	for _, x := range outcomeEndings {
		if x.outcome == o {
			return x
		}
	}
	return outcomeEnding{o, exitFailed, string(o), "ended as " + string(o), false, ""}
}

// say makes the sentence about a subject. reason is a rule or an error.
func (x outcomeEnding) say(subject, reason string) string {
	parts := []string{subject + " " + x.words}
	if reason != "" {
		parts = append(parts, reason)
	}
	text := strings.Join(parts, ": ")
	if x.command != "" {
		text += " (" + x.command + " says more)"
	}
	return text
}

// failure is the error of an ending; nil = it succeeded.
func (x outcomeEnding) failure(subject, reason, rule string) error {
	if x.code == "" {
		return nil
	}
	return &failure{exit: x.exit, code: x.code, text: x.say(subject, reason), rule: rule}
}

// endingTable is the table of outcomes for docs/cli.md.
func endingTable() string {
	var b strings.Builder
	b.WriteString("| outcome | exit code | `code` | message |\n|---|---|---|---|\n")
	for _, x := range outcomeEndings {
		subject, code := "the run … ", ""
		if x.ofAnswer {
			subject = "the answer of the run … "
		}
		if x.code != "" {
			code = "`" + x.code + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s%s |\n", x.outcome, x.exit, code, subject, x.words)
	}
	return b.String()
}

// endOfRun is how a command ends that waited for a run.
func endOfRun(w api.Waited) error {
	if w.Outcome == "" { // a host of an earlier version
		w.Outcome, w.Rule = api.OutcomeOf(w)
	}
	x, subject, reason := endingOf(w.Outcome), "the run "+string(w.Run), strings.TrimPrefix(w.Error, "stopped ")
	if x.ofAnswer {
		subject, reason = "the answer of "+subject, w.Rule
	}
	return x.failure(subject, reason, w.Rule)
}

// endOfSend is how a command ends that sent a text.
func endOfSend(a api.SendAnswer) error {
	rule := ""
	if !a.Verdict.Allowed() {
		rule = a.Verdict.Rule
	}
	o := api.DeliveryOutcome(a.State, rule)
	if o == "" {
		return nil
	}
	return endingOf(o).failure("the delivery "+string(a.Delivery)+" to "+a.To, rule, rule)
}
