package responses

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parley/agent"
	"parley/agent/lessons"
	"parley/agent/wire"
	"parley/sessions"
)

// history makes the input items of a request of a transcript.
type history struct {
	call         *lessons.Call
	at           lessons.Endpoint
	set          agent.ModelSettings
	sent         *lessons.Sent
	noTools      bool   // there are tools, but the model is offered none
	toolPictures bool   // the server takes pictures in the results of tools
	system       string // stands in front of the first message

	b        []byte
	forms    []lessons.Param // of the content of messages
	omit     bool            // no reasoning, and no ids of items
	reasoned bool            // there are reasoning items
	complete string          // the status of items; "" = none is sent
	ids      map[string]bool // of items: a request must not have one twice
	sealed   map[string]bool // of the reasoning items that were sent: their encrypted content
	texts    map[string]int  // how often a text was given an id
	hash     hash.Hash       // of texts
	sum      [sha256.Size]byte
}

// encode begins a body: its input, with room behind it for more bytes.
func (h *history) encode(p agent.Prompt, more int) []byte {
	h.hash = sha256.New()
	h.askStatus()
	h.forms = append(h.call.ContentForms("assistant"), h.call.FormOf(lessons.CallArguments, lessons.AsText, lessons.AsObject))
	h.omit = h.set.Reasoning.SendBack == "off" || h.call.Use(lessons.Reasoning) == lessons.OmitReasoning && h.set.Reasoning.SendBack != "on" || h.call.Bare()
	msgs := agent.Repair(p.Messages, h.target(p))
	size := len(h.system) + 64
	for _, m := range msgs {
		for _, c := range m.Content {
			size += len(c.Text) + len(c.Data) + len(c.Arguments) + 160
			if c.Opaque != nil {
				size += len(c.Opaque.Data)
			}
		}
	}
	h.b = append(make([]byte, 0, size+size/8+more), `{"input":[`...)
	for _, m := range msgs {
		switch m.Role {
		case sessions.User:
			h.user(m.Content)
		case sessions.Assistant:
			h.assistant(m)
		case sessions.ToolResult:
			h.result(m)
		}
	}
	h.sent.Params = append(h.sent.Params, h.forms...)
	h.sent.OnlyIDs = h.sent.Reasoning && !h.reasoned
	h.call.Shows(h.sent, h.forms)
	return append(trimComma(h.b), ']')
}

// item notes the role of an item that is added.
func (h *history) item(role string) { h.sent.Roles = append(h.sent.Roles, role) }

// itemThought notes an item of reasoning that is added.
func (h *history) itemThought() {
	h.sent.ThoughtAt = append(h.sent.ThoughtAt, lessons.Place{Message: len(h.sent.Roles), Block: -1})
	h.item(lessons.Blocks)
}

// target says what the transcript is made fit for.
func (h *history) target(p agent.Prompt) agent.Target {
	return agent.Target{
		From: h.at.String(), Label: h.at.Label(), Zone: p.Zone, Thinking: !h.omit,
		Plain:      h.noTools || h.call.Told(),
		PlainUntil: h.call.ToldUntil(),
		OneCall:    h.call.Off(lessons.OneCall, ""), PlainNames: h.call.Off(lessons.ToolNames, ""),
		ShortIDs: h.call.Off(lessons.CallIDs, ""), IDs: h.call.IDs(),
		ThinkingFrom: h.call.ReasoningFrom(),
		AfterTool:    h.call.Use(lessons.Roles) == lessons.AfterTool, UserOnly: h.call.Use(lessons.Roles) == lessons.UserOnly,
		ToolPictures: h.toolPictures && !h.call.Off(lessons.ToolImages, ""),
		MaxText:      h.call.MaxText(),
		Picture:      h.call.Picture(h.set.Images, p.Messages),
	}
}

// user adds a message of a person. Text alone is sent as a plain text: every server takes it.
func (h *history) user(blocks []sessions.Block) {
	h.begin("user")
	h.b = append(h.b, `"content":`...)
	if h.system != "" {
		blocks = slices.Insert(slices.Clone(blocks), 0, sessions.Block{Type: sessions.TextBlock, Text: h.system})
		h.system = ""
	}
	if hasPictures(blocks) || lessons.IsList(h.forms, "user") {
		for _, c := range blocks {
			if ok, _ := wire.Image(c); c.Type == sessions.ImageBlock && ok {
				h.sent.Pictures = append(h.sent.Pictures, c.Data)
			}
		}
		h.parts(blocks)
	} else {
		h.b = wire.Quote(h.b, wire.Text(blocks))
	}
	h.b = append(h.b, "},"...)
}

// parts adds text and pictures as a list.
func (h *history) parts(blocks []sessions.Block) {
	h.b = append(h.b, '[')
	for _, c := range blocks {
		switch ok, instead := wire.Image(c); {
		case c.Type != sessions.ImageBlock:
			h.b = wire.Quote(append(h.b, `{"type":"input_text","text":`...), c.Text)
		case !ok:
			h.b = wire.Quote(append(h.b, `{"type":"input_text","text":`...), instead)
		default:
			h.b = append(h.b, `{"type":"input_image","detail":"auto","image_url":`...)
			h.b = wire.Quote(h.b, "data:"+c.MIME+";base64,"+c.Data)
		}
		h.b = append(h.b, "},"...)
	}
	h.b = append(trimComma(h.b), ']')
}

// result adds what a tool answered.
func (h *history) result(m sessions.Message) {
	h.sent.Steps = true
	h.item("tool")
	h.b = append(h.b, `{"type":"function_call_output",`...)
	h.status()
	h.b = wire.Quote(append(h.b, `"call_id":`...), m.ToolCallID)
	h.b = append(h.b, `,"output":`...)
	if h.sent.ToolImages = h.sent.ToolImages || hasPictures(m.Content); hasPictures(m.Content) || lessons.IsList(h.forms, "tool") {
		h.parts(m.Content)
	} else {
		h.b = wire.Quote(h.b, wire.Text(m.Content))
	}
	h.b = append(h.b, "},"...)
}

// assistant adds the items of an answer, in their order. Items that came together go back together: a reasoning item with what it led
// to, and their ids only with all of the reasoning, because the provider checks that.
func (h *history) assistant(m sessions.Message) {
	if _, each := h.wantsReasoning(); !each && len(m.Content) == 1 && m.Content[0].Type == sessions.TextBlock && m.Content[0].Opaque == nil {
		h.message(m.Content[0].Text, keptItem{}, false)
		return
	}
	kept := make([]keptItem, len(m.Content))
	for i, c := range m.Content {
		if !h.omit {
			kept[i] = h.readable(readKept(c))
		}
	}
	whole := !h.omit && h.isWhole(m, kept)
	ids := whole && !slices.ContainsFunc(kept, func(k keptItem) bool { return h.ids[k.id] })
	if wants, each := h.wantsReasoning(); wants && (each || m.HasToolCalls()) && !slices.ContainsFunc(m.Content, func(c sessions.Block) bool { return c.Type == sessions.ThinkingBlock }) {
		h.plainThought(placeholder)
	}
	var text []string
	flush := func() {
		if len(text) > 0 {
			h.message(strings.Join(text, "\n\n"), keptItem{}, false)
			text = nil
		}
	}
	first := true
	for i, c := range m.Content {
		switch c.Type {
		case sessions.ThinkingBlock:
			flush()
			h.thinking(c, kept[i], whole, ids)
			continue
		case sessions.ToolCallBlock:
			flush()
			h.toolCall(c, kept[i], ids)
		case sessions.TextBlock:
			said := c.Text
			if !first {
				said = strings.TrimLeft(said, "\n") // the end of the text before
			}
			if kept[i].data == nil {
				text = append(text, said)
				break
			}
			flush()
			h.message(said, kept[i], ids)
		}
		first = false
	}
	flush()
}

// keptItem is what was kept of an item for its provider.
type keptItem struct {
	data   json.RawMessage // nil = nothing
	id     string
	sealed string // encrypted content
}

// readKept reads what was kept with a block. What chat completions kept at the same address is no item.
func readKept(c sessions.Block) keptItem {
	if c.Opaque == nil || c.Opaque.Data == nil {
		return keptItem{}
	}
	var item struct {
		Type, ID string
		Sealed   json.RawMessage `json:"encrypted_content"`
	}
	if json.Unmarshal(c.Opaque.Data, &item) != nil || item.Type == "" {
		return keptItem{}
	}
	var sealed string
	_ = json.Unmarshal(item.Sealed, &sealed) // what is no text is not named in an error
	return keptItem{c.Opaque.Data, item.ID, sealed}
}

// readable notes an item that goes back, or gives none where the provider cannot read it any more.
func (h *history) readable(kept keptItem) keptItem {
	item := lessons.Item{ID: kept.id, Sealed: kept.sealed}
	if kept.data == nil {
		return kept
	}
	if h.call.OffItem(item) {
		return keptItem{}
	}
	h.sent.Items = append(h.sent.Items, item)
	return kept
}

// isWhole reports whether all reasoning of a message can be sent, and none of it was sent before. Ids do not tell: some servers number the
// items of each answer from the start.
func (h *history) isWhole(m sessions.Message, kept []keptItem) bool {
	for i, c := range m.Content {
		if c.Type == sessions.ThinkingBlock && (c.Opaque != nil && kept[i].data == nil || h.sealed[kept[i].seal()]) {
			return false
		}
	}
	return true
}

// seal tells reasoning items apart; "" = there is none.
func (k keptItem) seal() string { return cmp.Or(k.sealed, string(k.data)) }

// thinking adds a reasoning item as it came. Where the provider asks for reasoning, one that came without is told in plain.
func (h *history) thinking(c sessions.Block, kept keptItem, whole, ids bool) {
	switch wanted, _ := h.wantsReasoning(); {
	case kept.data != nil && whole:
		h.reasoning(kept, ids)
	case kept.data == nil && (wanted || h.set.Reasoning.SendBack == "on") && c.Text != "":
		h.plainThought(c.Text)
	}
}

// wantsReasoning reports whether the endpoint was learned to want reasoning with calls, and whether with each message.
func (h *history) wantsReasoning() (wants, each bool) {
	if h.omit || h.set.Reasoning.SendBack != "" && h.set.Reasoning.SendBack != "auto" {
		return false, false
	}
	use := h.call.Use(lessons.Reasoning)
	return use == lessons.SendReasoning || use == lessons.SayReasoning, use == lessons.SayReasoning
}

// placeholder stands for the reasoning of calls that came without, where an endpoint wants some. source: maximhq/bifrost#3802 (Kimi)
const placeholder = "(no reasoning)"

// plainThought adds an item of reasoning that did not come as one.
func (h *history) plainThought(text string) {
	h.itemThought()
	h.b = append(h.b, `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":`...)
	h.b = append(wire.Quote(h.b, text), `}]},`...)
	h.sent.Reasoning, h.reasoned = true, true
}

// message adds a text of the model.
func (h *history) message(text string, kept keptItem, whole bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	h.begin("assistant")
	h.b = append(h.b, `"content":`...)
	if h.omit { // in the form that asks for nothing
		h.b = append(wire.Quote(h.b, text), "},"...)
		return
	}
	isList := lessons.IsList(h.forms, "assistant")
	if isList {
		h.b = append(h.b, `[{"type":"output_text","text":`...)
	}
	start := len(h.b)
	h.b = wire.Quote(h.b, text)
	quoted := h.b[start:]
	if isList {
		h.b = append(h.b, `,"annotations":[]}]`...)
	}
	if !h.further(kept, whole) && h.field("id") {
		h.textID(text, quoted)
	}
	h.sent.Reasoning = true // an id, which may be refused
	h.b = append(h.b, "},"...)
}

// begin begins a message of a role.
func (h *history) begin(role string) {
	h.item(role)
	h.b = append(h.b, '{')
	if h.field("type") { // some servers take only messages without one
		h.b = append(h.b, `"type":"message",`...)
	}
	h.b = append(wire.Quote(append(h.b, `"role":`...), role), ',')
	h.status()
}

// status adds that an item is complete, where the endpoint wants to be told.
func (h *history) status() {
	if h.complete == "" {
		return
	}
	h.b = append(wire.Quote(append(h.b, `"status":`...), h.complete), ',')
}

// wantsStatus is the address of a server whose documents say that it wants the status, and that refuses items without one without a reason.
// source: openrouter.ai/docs/api/reference/responses/basic-usage, openai/codex#12114
const wantsStatus = "openrouter.ai"

// askStatus finds out whether items have a status, and notes that an endpoint may ask for one.
func (h *history) askStatus() {
	p := lessons.Param{Name: lessons.ItemStatus, Value: lessons.Unset, Next: []string{lessons.Completed}, Fixed: true}
	if strings.Contains(h.at.Address, wantsStatus) {
		p.Value, p.Next = lessons.Completed, nil
	}
	if use, send := h.call.Param(p.Name, p.Value); send {
		h.complete, p.Value, p.Next = use, use, nil
	}
	h.sent.Params = append(h.sent.Params, p)
}

// toolCall adds a call.
func (h *history) toolCall(c sessions.Block, kept keptItem, whole bool) {
	h.sent.Steps = true
	h.item(lessons.Blocks)
	h.b = append(h.b, `{"type":"function_call",`...)
	h.status()
	h.b = wire.Quote(append(h.b, `"call_id":`...), c.ID)
	h.b = wire.Quote(append(h.b, `,"name":`...), c.Name)
	h.b = append(h.b, `,"arguments":`...)
	if lessons.HasForm(h.forms, lessons.CallArguments, lessons.AsObject) {
		h.b = append(h.b, c.Arguments...)
	} else {
		h.b = wire.Quote(h.b, string(c.Arguments))
	}
	h.further(kept, whole)
	h.b = append(h.b, "},"...)
}

// further adds the fields of an item that its provider wants back, its id only with whole, and reports whether there was an id.
func (h *history) further(kept keptItem, whole bool) (id bool) {
	if kept.data == nil {
		return false
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(kept.data, &all) != nil {
		return false
	}
	delete(all, "type")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case name == "id" && (!whole || len(kept.id) > maxItemID), !h.field(name):
			continue
		case name == "id":
			id = true
			h.note(kept.id)
		}
		h.b = append(append(wire.Quote(append(h.b, ','), name), ':'), all[name]...)
		h.sent.Reasoning = true
	}
	return id
}

func (h *history) note(id string) {
	if id == "" {
		return
	}
	if h.ids == nil {
		h.ids = make(map[string]bool)
	}
	h.ids[id] = true
}

// textID adds an id for a text that has none of this provider: some want one, and all take one of this form.
func (h *history) textID(text string, quoted []byte) {
	if h.texts == nil {
		h.texts = make(map[string]int)
	}
	h.hash.Reset()
	_, _ = h.hash.Write(quoted) // a hash takes everything
	n := h.texts[text]
	h.texts[text] = n + 1
	h.b = append(h.b, `,"id":"msg_`...)
	h.b = hex.AppendEncode(h.b, h.hash.Sum(h.sum[:0])[:16])
	if n > 0 {
		h.b = strconv.AppendInt(append(h.b, '_'), int64(n), 10)
	}
	h.b = append(h.b, '"')
}

// maxItemID is the longest id of an item that is taken back; ChatGPT makes longer ones. Nothing is found by them: the request stores
// nothing. source: NousResearch/hermes-agent#27038
const maxItemID = 64

// reasoning adds a reasoning item as it came, but for fields that are not taken back: its status, an id that is too long or that another item
// had, and what the endpoint refuses.
//
// source: earendil-works/pi#7263, digitallyinduced/haskell-agent#689 (status); Codex sends none
func (h *history) reasoning(kept keptItem, ids bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(kept.data, &all) != nil {
		return
	}
	_, changed := all["status"]
	delete(all, "status")
	if all["summary"] == nil { // there must be one. source: platform.openai.com/docs/api-reference/responses/create (reasoning item)
		all["summary"], changed = json.RawMessage("[]"), true
	}
	for name := range all {
		switch {
		case name == "type" || name == "encrypted_content":
		case name == "id" && (len(kept.id) > maxItemID || !ids), !h.field(name):
			changed = true
			if delete(all, name); name == "summary" { // there must be one
				all[name] = json.RawMessage("[]")
			}
		}
	}
	data := kept.data
	if changed {
		data, _ = json.Marshal(all) // what was decoded can be encoded
	}
	if all["id"] != nil {
		h.note(kept.id)
	}
	if h.sealed == nil {
		h.sealed = make(map[string]bool)
	}
	h.sealed[kept.seal()] = true
	h.itemThought()
	h.b = append(append(h.b, data...), ',')
	h.sent.Reasoning, h.reasoned = true, true
}

// field reports whether a field of items is sent, and notes that an error may refuse it.
func (h *history) field(name string) bool {
	p := lessons.Param{Name: lessons.ItemField + name, Value: lessons.Taken, Fixed: true}
	if _, send := h.call.Param(p.Name, p.Value); !send {
		return false
	}
	if !slices.ContainsFunc(h.sent.Params, func(s lessons.Param) bool { return s.Name == p.Name }) {
		h.sent.Params = append(h.sent.Params, p)
	}
	return true
}

func trimComma(b []byte) []byte {
	if n := len(b); b[n-1] == ',' {
		return b[:n-1]
	}
	return b
}
