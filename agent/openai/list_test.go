package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
)

// TestListFacts reads lists of models in the forms that servers have.
func TestListFacts(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"object":"list","data":[{"id":"a","context_length":8192},{"id":"b","architecture":{"input_modalities":["text","image"]}},{"id":"a"}]}`: `a={"id":"a","context_length":8192} b={"id":"b","architecture":{"input_modalities":["text","image"]}}`,
		`{"data":null}`: "",
		`{"data":[]}`:   "",
		`[{"id":"a","type":"chat"},{"id":7},{"type":"x"},null,3]`: `a={"id":"a","type":"chat"} 7={"id":7}`, // source: docs.together.ai, GET /models is a list
		`["a","b"]`: `a=null b=null`,
		`{"models":[{"name":"llama3:8b","model":"llama3:8b"}],"object":"list"}`: `llama3:8b={"name":"llama3:8b","model":"llama3:8b"}`, // source: ggml-org/llama.cpp server README, /v1/models
		`{"data":{"x":1}}`: "broken",
		`{"status":"ok"}`:  "broken",
		`<html>`:           "broken",
		``:                 "broken",
	} {
		m := against(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/models" || r.URL.Query().Get("api-version") != "7" || r.Header.Get("X-Org") != "me" || r.Header.Get("Authorization") != "Bearer k" {
				t.Errorf("%s %v %v", r.URL, r.Header, r.Method)
			}
			_, _ = w.Write([]byte(body)) // the client says what is missing
		}, Config{})
		got := ""
		models, err := ListFacts(t.Context(), Config{Name: "x", BaseURL: m.at.base.String(), APIKey: channels.NewSecret("k"), Settings: func(string) agent.ModelSettings {
			return agent.ModelSettings{Query: map[string]string{"api-version": "7"}, Headers: map[string]channels.Secret{"X-Org": channels.NewSecret("me")}}
		}})
		if e, ok := errors.AsType[*agent.ModelError](err); ok {
			got = string(e.Class)
		}
		for _, m := range models {
			got += " " + m.ID + "=" + string(m.Raw)
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
}
