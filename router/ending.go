package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// Silence gives the control word that ended a run in silence; "" when it ended otherwise. A sub-agent's own word counts only when it
// is ANNOUNCE_SKIP: whatever else it says is reported (contract N10, N15).
func Silence(run sessions.Run) agent.Control {
	if run.Status != sessions.Done {
		return agent.Speak
	}
	word := agent.Control(strings.TrimSpace(run.Result))
	spawned := run.Chain != nil && run.Chain.Kind == chainSpawn
	switch {
	case word == agent.AnnounceSkip:
		return word
	case word == agent.NoReply && (!spawned || run.Kind == sessions.ResultRun):
		return word
	case word == agent.ReplySkip && !spawned:
		return word
	}
	return agent.Speak
}

// wordless says to a person why a turn has no answer: silence without a reason looks like a fault of the chat.
func wordless(stop string) string {
	if stop == agent.StopFilter {
		return "The language model refused to answer this."
	}
	if stop == agent.StopLength { // most often of nothing but thinking
		return "The language model reached its length limit before it said a word."
	}
	return "The language model gave an empty answer."
}

// cutOff says behind a text that it is not the whole answer; "" when it is.
func cutOff(stop string) string {
	switch stop {
	case agent.StopFilter:
		return "\n\n(The answer ends here: the language model or its provider refused to go on.)"
	case agent.StopLength:
		return "\n\n(The answer ends here: it reached the length limit.)"
	}
	return ""
}

// unansweredWords says behind an answer how many messages of its turn the provider refused; "" if it refused none.
func (r *Router) unansweredWords(ctx context.Context, run sessions.Run, final sessions.Message) string {
	if len(final.Without) == 0 {
		return ""
	}
	n := 0
	for _, m := range append(sessions.MergedMessages(run, r.steps(ctx, run)), run.Input) {
		if slices.Contains(final.Without, m.ID) {
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

// providerWords returns what the provider said about a failed call, or what was wrong with its broken answer, and which setting is to change, as paragraphs behind the notice; "" where somebody may read the
// notice who is no owner. steps has the messages that the run has taken up.
func (r *Router) providerWords(run sessions.Run, steps []sessions.Message, err error) string {
	e, ok := errors.AsType[*agent.ModelError](err)
	if !ok || run.Reply.Type != channels.Direct {
		return ""
	}
	lead, said := "The provider says: ", e.Said
	if strings.TrimSpace(said) == "" && e.Class == agent.Broken && e.Err != nil { // a provider of broken answers says nothing
		lead, said = "What was wrong: ", e.Err.Error()
	}
	if strings.TrimSpace(said) == "" {
		return ""
	}
	for _, m := range append([]sessions.Message{run.Input}, steps...) {
		if m.Role == sessions.User && (m.Provenance == nil || !m.Provenance.Owner) {
			return ""
		}
	}
	if r.kit.Redact != nil {
		said = r.kit.Redact(said)
	}
	words := "\n\n" + lead + channels.Code(said, maxProviderWords)
	if e.Hint != "" {
		words += "\n\n" + e.Hint
	}
	return words
}

// reported says in a few words what became of a sub-agent's report (contract N15); "" when nothing is known of it.
func (r *Router) reported(ctx context.Context, child sessions.Run) (string, error) {
	if child.Chain == nil {
		return "", nil
	}
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Root: child.Chain.Root})
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(runs, func(x sessions.Run) bool { return !x.Status.Final() }) {
		return "at work", nil
	}
	// A message that a turn at work took up ended with no turn of its own: it says nothing.
	last := slices.IndexFunc(runs, func(x sessions.Run) bool { return x.Status != sessions.Done || x.Attempt > 0 })
	if last < 0 {
		return "", nil
	}
	run := runs[last]
	sent, err := r.store.ListDeliveries(ctx, sessions.DeliveryQuery{Run: run.ID})
	if err != nil {
		return "", err
	}
	for _, d := range sent {
		if d.Kind == sessions.Announce {
			return r.arrived(d), nil
		}
	}
	switch {
	case run.Status == sessions.Stopped:
		return "none, stopped: " + r.brief(cmp.Or(run.Error, "by a person")), nil
	case run.Status != sessions.Done:
		return "failed: " + r.brief(cmp.Or(run.Error, string(run.Status))), nil
	case Silence(run) != agent.Speak:
		return "silent: " + string(Silence(run)), nil
	}
	return "told to " + channels.Code(string(run.Chain.Requester), lineMost), nil
}

// arrived says how the delivery of a report stands.
func (r *Router) arrived(d sessions.Delivery) string {
	switch d.State {
	case sessions.Sent:
		return "announced"
	case sessions.Withheld:
		v := policy.Verdict{}
		if d.Verdict != nil {
			v = *d.Verdict
		}
		return "withheld by " + channels.Code(v.Rule, lineMost)
	case sessions.Pending, sessions.Sending:
		return "on its way"
	case sessions.Held:
		return "held: " + r.brief(d.Error)
	}
	return "failed: " + r.brief(cmp.Or(d.Error, string(d.State)))
}

// brief shows the reason of an end without secrets.
func (r *Router) brief(reason string) string {
	if r.kit.Redact != nil {
		reason = r.kit.Redact(reason)
	}
	return channels.Code(reason, lineMost)
}
