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

// endings are endpoints whose answers do not say that they are at their end, and others that end their lines otherwise.
var endings = []Row{
	{ID: "carriage-returns", Vendor: "a proxy", Source: "https://html.spec.whatwg.org/multipage/server-sent-events.html", Does: "ends its lines with CR alone", Wire: framed(Frame{Newline: "\r"})},
	{ID: "emoji-in-two-events", Vendor: "a gateway in JavaScript", Source: "elizaOS/eliza#30904", Does: "splits a surrogate pair over two events", Wire: ChatWire{Last: halfEmoji}.Wire(), Want: smiling},
	{ID: "no-end-mark", Vendor: "GenieX", Source: "qualcomm/GenieX#1246", Does: "names no finish reason, and ends without DONE", Wire: ChatWire{Frame: Frame{NoDone: true}, NoUsage: true, Last: leavingOut("finish")}.Wire(), Want: Expectation{Log: `do not say that they are complete`}},
	{ID: "usage-as-the-end", Vendor: "OpenCode Zen", Source: "vercel/ai#19165", Does: "names no finish reason, and ends with the usage", Wire: ChatWire{Frame: Frame{NoDone: true}, Last: leavingOut("finish")}.Wire()},
	{ID: "responses-no-end-mark", API: Responses, Vendor: "a gateway", Source: "open-learning-exchange/planet#10281", Does: "never sends response.completed", Wire: ResponsesWire{Last: leavingOut("response.completed")}.Wire(), Want: Expectation{Log: `do not say that they are complete`}},
	{ID: "messages-no-end-mark", API: Messages, Vendor: "a gateway", Source: "anomalyco/opencode#43882", Does: "never sends message_delta and message_stop", Wire: MessagesWire{Last: leavingOut("message_delta", "message_stop")}.Wire(), Want: Expectation{Log: `do not say that they are complete`}},
}
