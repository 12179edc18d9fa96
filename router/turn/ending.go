package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/control"
	"parley/channels"
	"parley/sessions"
)

// itOrThem stands for n things that were named before.
func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// placeOf says where the answer of a run goes; steps has the messages that were merged into it.
func placeOf(run sessions.Run, steps []sessions.Message) control.Place {
	switch run.Kind {
	case sessions.AskRun, sessions.ChildRun, sessions.FollowUpRun: // people wait for a late reply, in a group as well (contract S15)
		return control.Waited
	case sessions.ReplyRun:
		return control.Loop
	case sessions.TurnRun:
		if run.Input.Provenance.WantsAnswer() || slices.ContainsFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.User && m.Provenance.WantsAnswer() }) {
			return control.Waited
		}
	}
	return control.Unasked
}

// resultOf is what a run's row says of its answer: the words for others, or the control word that it ended with.
func resultOf(out agent.Outcome) string {
	if out.Text != "" {
		return out.Text
	}
	return string(control.Read(out.Final.Text()).Word)
}

// unansweredWords says behind an answer how many messages of its turn the provider refused; "" if it refused none.
func (w *Worker) unansweredWords(ctx context.Context, run sessions.Run, final sessions.Message) string {
	if len(final.Without()) == 0 {
		return ""
	}
	n := 0
	for _, m := range append(sessions.MergedMessages(run, w.steps(ctx, run)), run.Input) {
		if slices.Contains(final.Without(), m.ID) {
			n++
		}
	}
	if n == 0 { // tool results: the model was told
		return ""
	}
	left := "One message is"
	if n > 1 {
		left = channels.Plural(n, "message") + " are"
	}
	return fmt.Sprintf("\n\n(%s left out: the language model's provider refused %s.)", left, itOrThem(n))
}

// maxProviderWords bounds what a notice quotes of a provider, in characters.
const maxProviderWords = 300

// providerWords returns what the provider said about a failed call, or what was wrong with its broken answer, and
// which setting is to change, as paragraphs behind the notice; "" where somebody may read the
// notice who is no owner. steps has the messages that the run has merged.
func (w *Worker) providerWords(run sessions.Run, steps []sessions.Message, err error) string {
	e, ok := errors.AsType[*agent.ModelError](err)
	if !ok || run.Reply.Type != channels.Direct {
		return ""
	}
	lead, said := "The provider says: ", e.Said
	if strings.TrimSpace(said) == "" && e.Class == agent.Broken && e.Err != nil { // a provider of broken answers says nothing
		lead, said = "What was wrong: ", e.Err.Error()
	}
	if strings.TrimSpace(said) == "" && e.Hint == "" {
		return ""
	}
	for _, m := range append([]sessions.Message{run.Input}, steps...) {
		if m.Role == sessions.User && (m.Provenance == nil || !m.Provenance.Owner) {
			return ""
		}
	}
	if w.redact != nil {
		said = w.redact(said)
	}
	words := ""
	if strings.TrimSpace(said) != "" {
		words = "\n\n" + lead + channels.Code(said, maxProviderWords)
	}
	if e.Hint != "" {
		words += "\n\n" + e.Hint
	}
	return words
}
