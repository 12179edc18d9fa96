package endpoints

import (
	"encoding/json"
	"strings"
)

// rawly writes each event of a stream as write says.
func rawly(write func(data string) string) func(c *Call, p *Piece) {
	return func(_ *Call, p *Piece) { p.Raw = write(encode(p.Data)) }
}

// asText encodes JSON once more.
func asText(data string) string { return encode(data) }

// asPython writes JSON as Python writes an object.
func asPython(data string) string {
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(data))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v) // it was encoded before
	writePython(&b, v)
	return b.String()
}

func writePython(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case string:
		b.WriteString("'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(v) + "'")
	case list:
		b.WriteString("[")
		for i, x := range v {
			b.WriteString(map[bool]string{true: ", "}[i > 0])
			writePython(b, x)
		}
		b.WriteString("]")
	case obj:
		first := true
		b.WriteString("{")
		for k, x := range v {
			b.WriteString(map[bool]string{false: ", "}[first])
			writePython(b, k)
			b.WriteString(": ")
			writePython(b, x)
			first = false
		}
		b.WriteString("}")
	default:
		b.WriteString(encode(v))
	}
}

// indexed counts the pieces of an answer in the index of its choice.
func indexed(_ *Call, pieces []Piece) []Piece {
	for i := range pieces {
		pieces[i].choice()["index"] = i + 1
	}
	return pieces
}

// spoken puts the words of an answer beside its sound.
func spoken(_ *Call, p *Piece) {
	if p.Kind == "text" {
		d := p.delta()
		d["audio"] = obj{"id": "audio_1", "transcript": d["content"]}
		d["content"] = nil
	}
}

// nullWords has the word null for the end in each event but the last, and breaks off the first answer to hello.
func nullWords(c *Call, pieces []Piece) []Piece {
	for i := range pieces {
		if ch := pieces[i].choice(); ch["finish_reason"] == nil && pieces[i].Kind != "usage" {
			ch["finish_reason"] = "null"
		}
	}
	if c.Asked() == "hello" && c.memory.times("hello") == 0 {
		return pieces[:2]
	}
	return pieces
}

// early puts all blocks of an answer into its first event.
func early(_ *Call, pieces []Piece) (out []Piece) {
	var content list
	for _, p := range pieces {
		switch p.Kind {
		case "content_block_start":
			block, _ := p.Data["content_block"].(obj)
			content = append(content, block)
		case "content_block_delta":
			block, _ := content[len(content)-1].(obj)
			delta, _ := p.Data["delta"].(obj)
			if s := str(delta["text"]); s != "" {
				block["text"] = str(block["text"]) + s
			}
			if s := str(delta["partial_json"]); s != "" {
				so, _ := block["input"].(string)
				block["input"] = so + s
			}
		case "content_block_stop":
		default:
			out = append(out, p)
		}
	}
	for _, b := range content {
		if block, _ := b.(obj); block["type"] == "tool_use" {
			block["input"] = rawJSON(str(block["input"]))
		}
	}
	message, _ := out[0].Data["message"].(obj)
	message["content"] = content
	return out
}

// wholeParts leaves out all that says the text but the end of each part.
func wholeParts(_ *Call, pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		item, _ := p.Data["item"].(obj)
		switch {
		case strings.HasPrefix(p.Kind, "response.output_text"), p.Kind == "response.output_item.done" && item["type"] == "message":
			continue
		case p.Kind == "response.completed":
			response, _ := p.Data["response"].(obj)
			response["output"] = list{}
		}
		out = append(out, p)
	}
	return out
}

// reading are endpoints whose answers are right, but written in another way than the document's.
var reading = []Row{
	{ID: "index-counts-the-pieces", Vendor: "TGI", Source: "huggingface/text-generation-inference#1648", Does: "counts its pieces in the index of the choice", Wire: ChatWire{AtOnce: true, Last: indexed}.Wire()},
	{ID: "done-without-brackets", Vendor: "a router", Source: "cline/cline#1786", Does: "ends with the word DONE, and names no finish reason", Wire: ChatWire{Frame: Frame{NoDone: true}, Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			if p.Kind != "finish" && p.Kind != "usage" {
				out = append(out, p)
			}
		}
		return append(out, Piece{Raw: "DONE"})
	}}.Wire()},
	{ID: "events-encoded-twice", Vendor: "a Java gateway", Source: "apache/servicecomb-java-chassis#5125", Does: "encodes each event once more as a text", Wire: edit(rawly(asText))},
	{ID: "responses-events-encoded-twice", API: Responses, Vendor: "a Java gateway", Source: "apache/servicecomb-java-chassis#5125", Does: "encodes each event once more as a text", Wire: ResponsesWire{Reasons: true, Edit: rawly(asText)}.Wire()},
	{ID: "messages-events-encoded-twice", API: Messages, Vendor: "a Java gateway", Source: "apache/servicecomb-java-chassis#5125", Does: "encodes each event once more as a text", Wire: MessagesWire{Edit: rawly(asText)}.Wire()},
	{ID: "events-in-python", Vendor: "a FastAPI server", Source: "sysid/sse-starlette#21", Does: "writes its events as Python does, in single quotes", Wire: edit(rawly(asPython))},
	{ID: "responses-events-in-python", API: Responses, Vendor: "a FastAPI server", Source: "sysid/sse-starlette#21", Does: "writes its events as Python does, in single quotes", Wire: ResponsesWire{Edit: rawly(asPython)}.Wire()},
	{ID: "spoken-answers", Vendor: "OpenAI", Source: "langfuse/langfuse-python#1831", Model: "gpt-4o-audio-preview", Does: "has the words of its answer in audio.transcript only", Wire: edit(spoken)},
	{ID: "null-as-a-word", Vendor: "KoboldCpp", Source: "PowerShell/AIShell#350", Does: "has the word null for the finish reason while it writes, and breaks off once", Wire: ChatWire{Frame: Frame{NoDone: true}, Last: nullWords}.Wire(), Want: Expectation{Refused: 1}},
	{ID: "responses-stream-at-a-chat-address", Vendor: "AIRouter", Source: "mxyhi/token_proxy#238", Does: "answers with the events of the Responses API where chat completions are asked for", Checks: never(sse200("event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"status\":\"in_progress\",\"output\":[],\"error\":null}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"delta\":\"hi\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"completed\",\"output\":[]}}\n\n")), Want: otherAPI("openai-responses")},
	{ID: "chat-stream-at-a-responses-address", API: Responses, Vendor: "a proxy", Source: "praxis-proxy/ai#36", Does: "answers with chunks of chat completions where responses are asked for", Checks: never(sse200("data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hi\"},\"finish_reason\":null}]}\n\ndata: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")), Want: otherAPI("openai-completions")},
	{ID: "responses-whole-parts-only", API: Responses, Vendor: "a proxy", Source: "https://platform.openai.com/docs/api-reference/responses-streaming/response/content_part/done", Does: "says its text only at the end of each part", Wire: ResponsesWire{Last: wholeParts}.Wire()},
	{ID: "responses-junk-between-events", API: Responses, Vendor: "AgentRouter", Source: "Kilo-Org/kilocode#3083", Does: "sends events that are no JSON between its own", Wire: ResponsesWire{Last: func(_ *Call, pieces []Piece) []Piece {
		return append([]Piece{pieces[0], {Raw: "ping"}, {Raw: "{"}, {Raw: `"ok"`}, {Raw: "null"}}, pieces[1:]...)
	}}.Wire()},
	{ID: "blocks-in-message-start", API: Messages, Vendor: "Anthropic", Source: "langchain-ai/langchain#34408", Does: "has all blocks of its answer in its first event", Wire: MessagesWire{Last: early}.Wire()},
}
