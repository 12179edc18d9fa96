package anthropic

import (
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/tools"
)

// TestPlainAnswers: a refusal that comes with status 200 and in no shape of the API is read. source: developers.cloudflare.com/api, docs.aws.amazon.com/apigateway
func TestPlainAnswers(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"success":false,"errors":[{"code":7003,"message":"this model does not support tools"}]}`, `{"fault":{"faultstring":"this model does not support tools"}}`,
		`{"status":"fail","data":{"why":"this model does not support tools"}}`, `this model does not support tools`,
	} {
		e := &endpoint{answer: func(_ int, sent string) reply {
			if strings.Contains(sent, `"tools":`) {
				return reply{status: 200, kind: "application/json", body: body}
			}
			return reply{body: hello}
		}}
		book := lessons.NewBook(lessons.Config{})
		_, err := answer(t, e.at(elsewhere, func(c *Config) { c.Lessons = book }), agent.Prompt{Model: "m", Tools: []tools.Spec{{Name: "look"}}})
		if err != nil || e.count() != 2 || len(book.Known()) != 1 {
			t.Errorf("%s: %v after %d requests, learned %v", body, err, e.count(), book.Known())
		}
	}
}
