package config

import (
	"fmt"
	"slices"
	"strings"

	"parley/sessions"
)

// resets checks what session.reset…, and messages.queue.byChannel, are about: an entry for what does not exist would never apply.
func (k *checker) resets() {
	types := []string{sessions.ResetDirect, sessions.ResetGroup, sessions.ResetThread}
	for name := range k.config.Session.ResetByType {
		if !slices.Contains(types, name) {
			k.wrong("session.resetByType."+name, fmt.Sprintf("%q is not a chat type", name), "use one of: "+strings.Join(types, ", "))
		}
	}
	for name := range k.config.Session.ResetByChannel {
		if !slices.Contains(k.decoder.table.Kinds(), name) {
			k.wrong("session.resetByChannel."+string(name), fmt.Sprintf("%q is not a channel", name), "use the names under channels")
		}
	}
	for name := range k.config.Messages.Queue.ByChannel {
		if !slices.Contains(k.decoder.table.Kinds(), name) {
			k.wrong("messages.queue.byChannel."+string(name), fmt.Sprintf("%q is not a channel", name), "use the names under channels")
		}
	}
	if r := k.config.Session.Reset; r.IdleMinutes > 0 && (r.Mode == "" || r.Mode == "none") {
		k.wrong("session.reset.idleMinutes", "has no effect with mode none", "set mode: idle beside it")
	}
}
