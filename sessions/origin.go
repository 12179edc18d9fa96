package sessions

import "parley/channels"

// OriginOf is the chat that a run of a session is in: where its message came from, else where its answer goes, else the session's own;
// of a scheduled job the one that it was made in.
func OriginOf(s Session, run Run) Place {
	switch p := run.Input.Provenance; {
	case p != nil && !p.Address.IsZero():
		return Place{Chat: p.Address, Session: s.Key}
	case run.Kind == JobRun && run.Chain != nil:
		return Place{Chat: run.Chain.From, Session: run.Chain.Requester}
	case !run.Reply.IsZero():
		return Place{Chat: run.Reply, Session: s.Key}
	}
	return Place{Chat: s.Last, Session: s.Key}
}

// MergedMessages are the messages of other people or sessions that a run has merged.
func MergedMessages(run Run, msgs []Message) (out []Message) {
	for _, m := range msgs {
		if m.Role == User && m.Run == run.ID && m.ID != run.Input.ID {
			out = append(out, m)
		}
	}
	return out
}

// ParentChat is the chat that a thread with a chat id of its own belongs to: the session's key has it.
func ParentChat(o Place) channels.ChatID {
	p, err := o.Session.Parse()
	if err != nil || p.Thread == "" || string(p.Thread) != string(o.Chat.Chat) {
		return ""
	}
	return channels.ChatID(p.ID)
}
