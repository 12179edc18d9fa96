package endpoints

import (
	"slices"
	"strings"
)

// leavingOut leaves out the pieces of some kinds.
func leavingOut(kinds ...string) func(*Call, []Piece) []Piece {
	return func(_ *Call, pieces []Piece) []Piece {
		return slices.DeleteFunc(slices.Clone(pieces), func(p Piece) bool { return slices.Contains(kinds, p.Kind) })
	}
}

// halfEmoji puts an emoji into a text whose halves come in two events.
func halfEmoji(c *Call, pieces []Piece) (out []Piece) {
	texts := 0
	for _, p := range pieces {
		if p.Kind == "text" {
			p.Raw = encode(p.Data)
			if texts++; texts == 1 {
				p.Raw = strings.Replace(p.Raw, `"},"finish`, `\ud83d"},"finish`, 1)
			} else {
				p.Raw = strings.Replace(p.Raw, `{"content":"`, `{"content":"\ude00`, 1)
			}
		}
		out = append(out, p)
	}
	return out
}

// smiling is what people see of an answer with halfEmoji.
var smiling = Expectation{Plain: `^echo:😀 hello$`, Tool: `^The tool nam😀es a session\.$`, Follow: `^echo: a😀nd now\?$`, Restart: `^echo: are 😀you there\?$`, Back: `^echo: a😀nd here\?$`}

// sentences has the usual model end its echoes as sentences do.
var sentences = instead(func(usual string) string { return strings.TrimSuffix(usual, ".") + "." })

// failedAtTheEnd ends an answer with a failure of the server in the place of its last word.
func failedAtTheEnd(_ *Call, pieces []Piece) []Piece {
	for i, p := range pieces {
		if p.Kind == "response.completed" {
			response, _ := p.Data["response"].(obj)
			pieces[i] = responseEvent("response.failed", obj{"response": withKey(withKey(response, "status", "failed"), "error", obj{"code": "server_error", "message": "The server had an error while processing your request."})})
		}
	}
	return pieces
}

// mayBeCut stands behind an answer whose end was not marked.
const mayBeCut = "\n\n\\(The answer may be cut off: the language model's provider did not confirm the end\\. If something is missing, ask me to continue\\.\\)$"

// unmarked is what people see of endpoints that never mark the end of an answer. With the second answer of a life that is known.
var unmarked = Expectation{Plain: `^echo: hello\.` + mayBeCut, Killed: `^The tool names a session\.` + mayBeCut, Follow: `^echo: and now\?\.$`, Restart: `^echo: are you there\?\.` + mayBeCut, Back: `^echo: and here\?\.$`, Log: `answers lack an end mark`}

// cutAt ends a stream behind the first piece of a text, and in front of the pieces of some kinds.
func cutAt(isText func(Piece) bool, ends ...string) func(*Call, []Piece) []Piece {
	return func(c *Call, pieces []Piece) []Piece {
		if i := slices.IndexFunc(pieces, isText); i >= 0 {
			return pieces[:i+1]
		}
		return leavingOut(ends...)(c, pieces)
	}
}

// isKind tells pieces by their kind.
func isKind(kind string) func(Piece) bool { return func(p Piece) bool { return p.Kind == kind } }

// cutShort is what people see of endpoints whose texts always end at the same place.
var cutShort = Expectation{Plain: `^echo: ?` + mayBeCut, Tool: None, Follow: `^echo: a` + mayBeCut, Restart: `^echo: are` + mayBeCut, Back: `^spare: echo: and here\?$`}

// endings are endpoints whose answers do not say that they are at their end, and others that end their lines otherwise.
var endings = []Row{
	{ID: "carriage-returns", Vendor: "a proxy", Source: "https://html.spec.whatwg.org/multipage/server-sent-events.html", Does: "ends its lines with CR alone", Wire: framed(Frame{Newline: "\r"})},
	{ID: "emoji-in-two-events", Vendor: "a gateway in JavaScript", Source: "elizaOS/eliza#30904", Does: "splits a surrogate pair over two events", Wire: ChatWire{Last: halfEmoji}.Wire(), Want: smiling},
	{ID: "no-end-mark", Vendor: "GenieX", Source: "qualcomm/GenieX#1246", Does: "names no finish reason, and ends without DONE", Wire: ChatWire{Frame: Frame{NoDone: true}, NoUsage: true, Last: leavingOut("finish")}.Wire(), Mind: sentences, Want: unmarked},
	{ID: "usage-as-the-end", Vendor: "OpenCode Zen", Source: "vercel/ai#19165", Does: "names no finish reason, and ends with the usage", Wire: ChatWire{Frame: Frame{NoDone: true}, Last: leavingOut("finish")}.Wire()},
	{ID: "responses-no-end-mark", API: Responses, Vendor: "a gateway", Source: "open-learning-exchange/planet#10281", Does: "never sends response.completed", Wire: ResponsesWire{Last: leavingOut("response.completed")}.Wire(), Mind: sentences, Want: unmarked},
	{ID: "responses-failed-behind-its-items", API: Responses, Vendor: "Amazon", Source: "openai/codex#27185", Does: "says that an answer failed whose items are all complete", Wire: ResponsesWire{Last: failedAtTheEnd}.Wire(), Mind: sentences, Want: unmarked},
	{ID: "messages-no-end-mark", API: Messages, Vendor: "a gateway", Source: "anomalyco/opencode#43882", Does: "never sends message_delta and message_stop", Wire: MessagesWire{Last: leavingOut("message_delta", "message_stop")}.Wire(), Mind: sentences, Want: unmarked},
	{ID: "text-cut-at-one-place", Vendor: "a proxy", Source: "anomalyco/opencode#43882", Does: "ends each text in order, before it is complete", Wire: ChatWire{Frame: Frame{NoDone: true}, NoUsage: true, Last: cutAt(isKind("text"), "finish")}.Wire(), Want: cutShort},
	{ID: "responses-cut-at-one-place", API: Responses, Vendor: "a proxy", Source: "open-learning-exchange/planet#10281", Does: "ends each text in order, before it is complete", Wire: ResponsesWire{Last: cutAt(isKind("response.output_text.delta"), "response.completed")}.Wire(), Want: cutShort},
	{ID: "messages-cut-at-one-place", API: Messages, Vendor: "a proxy", Source: "anomalyco/opencode#43882", Does: "ends each text in order, before it is complete", Wire: MessagesWire{Last: cutAt(func(p Piece) bool {
		delta, _ := p.Data["delta"].(obj)
		return str(delta["type"]) == "text_delta"
	}, "message_delta", "message_stop")}.Wire(), Want: cutShort},
}
