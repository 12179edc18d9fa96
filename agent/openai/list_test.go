package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
)

// TestListForms reads lists of models in the forms that servers have.
func TestListForms(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"object":"list","data":[{"id":"a","context_length":8192},{"id":"b","architecture":{"input_modalities":["text","image"]}},{"id":"a"}]}`: "a b",
		`{"data":null}`: "",
		`{"data":[]}`:   "",
		`[{"id":"a","type":"chat"},{"id":7},{"type":"x"},null,3]`: "a 7", // source: docs.together.ai, GET /models is a list
		`["a","b"]`: "a b",
		`{"models":[{"name":"llama3:8b","model":"llama3:8b"}],"object":"list"}`: "llama3:8b", // source: ggml-org/llama.cpp server README, /v1/models
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
		models, err := List(t.Context(), Config{Name: "x", BaseURL: m.at.base.String(), APIKey: channels.NewSecret("k"), Settings: func(string) agent.ModelSettings {
			return agent.ModelSettings{Query: map[string]string{"api-version": "7"}, Headers: map[string]channels.Secret{"X-Org": channels.NewSecret("me")}}
		}})
		if e, ok := errors.AsType[*agent.ModelError](err); ok {
			got = string(e.Class)
		}
		if got += strings.Join(models, " "); got != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
}
