package endpoints

import "strings"

// statusEvents are what queues and loaders in front of a model send while people wait.
var statusEvents = []string{`{"status":"loading","message":"loading model"}`, `{"status":"queued","message":"You are number 3 in the queue"}`, `{"message":"waiting for a worker"}`,
	`{"detail":"warming up"}`, `{"type":"status","status":"starting","message":"starting a container"}`, `{"event":"progress","message":"50%"}`, `{"code":0,"message":"start"}`, `{"object":"status","msg":"starting"}`}

// statuses begin a stream.
func statuses() Frame {
	return Frame{Head: "data: " + strings.Join(statusEvents, "\n\ndata: ") + "\n\n"}
}

// notices are endpoints that say how long it takes, inside of a stream.
var notices = []Row{
	{ID: "status-events-in-front", Vendor: "Open WebUI pipelines", Source: "open-webui/pipelines#491", Does: "says what it waits for in front of the answer", Wire: framed(statuses())},
	{ID: "responses-status-events-in-front", API: Responses, Vendor: "transformers serve", Source: "huggingface/transformers#44758", Does: "says what it waits for in front of the answer", Wire: ResponsesWire{Frame: statuses()}.Wire()},
	{ID: "messages-status-events-in-front", API: Messages, Vendor: "transformers serve", Source: "huggingface/transformers#44758", Does: "says what it waits for in front of the answer", Wire: MessagesWire{Frame: statuses()}.Wire()},
	{ID: "status-event-alone", Vendor: "Open WebUI pipelines", Source: "open-webui/pipelines#491", Does: "says that it waits, and ends the stream", Fails: []Failure{always(nil, sse200("data: "+statusEvents[0]+"\n\n"))}, Want: dies(`(?i)broke off|problem`)},
}
