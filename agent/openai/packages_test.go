package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/channels"
)

// packages are the shapes in which servers and gateways put a refusal; %s is its sentence as the inside of a JSON text.
//
// source: docs.pydantic.dev, rfc-editor.org/rfc/rfc9457, google.aip.dev/193, jsonapi.org/format/#errors, docs.aws.amazon.com/apigateway, developers.cloudflare.com/api
var packages = map[string]string{
	"object":              `{"error":{"message":"%s","type":"invalid_request_error"}}`,
	"text":                `{"error":"%s"}`,
	"list of one":         `[{"error":{"message":"%s"}}]`,
	"list of texts":       `{"errors":["%s"]}`,
	"JSON:API":            `{"errors":[{"status":"400","title":"Bad Request","detail":"%s"}]}`,
	"problem details":     `{"type":"about:blank","title":"Bad Request","status":400,"detail":"%s"}`,
	"pydantic":            `{"detail":[{"type":"value_error","loc":["body"],"msg":"%s"}]}`,
	"text in a list":      `{"error":{"message":["Bad Request","%s"]}}`,
	"API gateway":         `{"fault":{"faultstring":"%s","detail":{"errorcode":"steps.json.Bad"}}}`,
	"capitals":            `{"Error":{"Code":"InvalidParameter","Message":"%s"}}`,
	"Cloudflare":          `{"success":false,"result":null,"errors":[{"code":7003,"message":"%s"}],"messages":[]}`,
	"Google":              `{"error":{"code":400,"message":"Invalid JSON payload","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"description":"%s"}]}]}}`,
	"OpenRouter":          `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"%s\"}}"}}}`,
	"twice quoted":        `{"error":"{\"message\":\"{\\\"detail\\\":\\\"%s\\\"}\"}"}`,
	"a text that is JSON": `"{\"error\":\"%s\"}"`,
	"behind a prefix":     `{"error":{"message":"litellm.BadRequestError: OpenAIException - {\"error\":{\"message\":\"%s\"}}. Received Model Group=m"}}`,
	"Python's quotes":     `{"error":{"message":"Error code: 400 - {'error': {'message': '%s'}}"}}`,
	"odd types":           `{"error":{"message":{"text":"%s"},"code":{"value":400},"type":[],"param":{}}}`,
	"doubled":             `{"error":{"message":""},"error":{"message":"%s"}}`,
	"under another key":   `{"status":"fail","data":{"reason_text":"%s"}}`,
	"null beside it":      `{"error":null,"message":null,"msg":"%s"}`,
	"plain text":          `%s`,
	"page":                `<!DOCTYPE html><html><head><title>400</title></head><body><h1>Bad Request</h1><p>%s</p></body></html>`,
	"XML":                 `<?xml version="1.0"?><Error><Code>Bad</Code><Message>%s</Message></Error>`,
	"an event":            "event: error\ndata: {\"error\":{\"message\":\"%s\"}}\n\n",
	"broken JSON":         `{"error":{"message":"%s"`,
	"two values":          `{"ok":false}` + "\n" + `{"error":{"message":"%s"}}`,
}

// TestPackages: the reason of a refusal is found in every shape and with every status, and costs one refused request.
func TestPackages(t *testing.T) {
	t.Parallel()
	for shape, body := range packages {
		for _, status := range []int{400, 403, 404, 405, 409, 415, 422, 500, 501, 200} {
			if status == 200 && (shape == "page" || shape == "broken JSON") || status == 403 && shape == "page" { // an answer may be cut off; a page may be a proxy's
				continue
			}
			for part, said := range map[string]string{`"temperature":`: "temperature is not supported by this model", `"tools":`: "this model does not support tools", `"stream":`: "streaming is not supported for this model"} {
				t.Run(fmt.Sprint(shape, status, part), func(t *testing.T) {
					t.Parallel()
					e := &picky{refuse: when(part, status, fmt.Sprintf(body, said))}
					book := lessons.NewBook(lessons.Config{})
					one := 1.0
					m := against(t, e.ServeHTTP, Config{Lessons: book, APIKey: channels.NewSecret("k"), Settings: func(string) agent.ModelSettings { return agent.ModelSettings{Temperature: &one} }})
					a, err := answer(t, m, agent.Prompt{Model: "m", Tools: specs})
					if err != nil || len(e.raw) != 2 || strings.Contains(e.last(), part) || len(book.Known()) != 1 || len(a.Content) != 1 {
						t.Errorf("%v after %d requests, learned %v", err, len(e.raw), book.Known())
					}
				})
			}
		}
	}
	if !json.Valid([]byte(fmt.Sprintf(packages["twice quoted"], "x"))) {
		t.Error("the table is wrong")
	}
}
