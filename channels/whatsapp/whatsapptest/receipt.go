package whatsapptest

import (
	"go.mau.fi/whatsmeow/types"
)

// Receipt tells an account's linked devices about messages of theirs, as the server does, in whatever order a test likes and for whatever
// ids: "" delivered, "read", "played", "retry" (it could not be decrypted: send it once more), "server-error", "inactive".
//
// source: go.mau.fi/whatsmeow types.ReceiptType, retry.go (handleRetryReceipt)
func (p *Person) Receipt(of *Phone, kind string, ids ...string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	of.receipt(p.lid, kind, attrs{}, ids)
}

// OwnReceipt tells them what another device of the same account did with messages in a chat: "read-self", "sender", "played-self".
//
// source: go.mau.fi/whatsmeow types.ReceiptType (ReceiptTypeReadSelf, ReceiptTypeSender)
func (p *Phone) OwnReceipt(chat Chat, kind string, ids ...string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.receipt(p.lid, kind, attrs{"recipient": chat.JID()}, ids)
}

// receipt is called under the lock.
func (p *Phone) receipt(from types.JID, kind string, a attrs, ids []string) {
	a["from"], a["id"], a["t"] = from, ids[0], unixNow()
	if kind != "" {
		a["type"] = kind
	}
	var content []node
	switch {
	case kind == "retry":
		content = []node{{Tag: "retry", Attrs: attrs{"count": "1", "id": ids[0], "t": unixNow(), "v": "1"}}, {Tag: "registration", Content: []byte{0, 0, 0, 1}}}
	case len(ids) > 1:
		list := node{Tag: "list"}
		var items []node
		for _, id := range ids[1:] {
			items = append(items, node{Tag: "item", Attrs: attrs{"id": id}})
		}
		list.Content = items
		content = []node{list}
	}
	for id, d := range p.devices {
		if id != 0 {
			d.push(node{Tag: "receipt", Attrs: a, Content: content})
		}
	}
}
