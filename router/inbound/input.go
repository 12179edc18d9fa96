package inbound

import (
	"parley/channels"
	"parley/router/turn"
)

// atLimit reports whether a text is as long as the platform's apps send in one message, so that the rest of it may come in another. They cut
// where a line or a word ends, which is well before the limit.
func (r *Receiver) atLimit(in channels.Inbound) bool {
	if len(in.Text) < turn.MinCut {
		return false
	}
	l, attached := r.gate.Limits(in.Address)
	if !attached {
		return false
	}
	most := l.Received
	if most == 0 {
		most = l.Text
	}
	return most > 0 && channels.Measure(in.Text, l.Unit) >= most*3500/4096
}
