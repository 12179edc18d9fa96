package wire

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
)

// TestHiddenParts: no part of a key, no value of the query and no opaque data of the request stands in what is kept of a refusal.
// source: platform.openai.com (Incorrect API key provided: sk-…), ai.google.dev/gemini-api/docs/thought-signatures,
// learn.microsoft.com/azure/storage (sig= of a shared access signature)
func TestHiddenParts(t *testing.T) {
	t.Parallel()
	const key, sig, opaque = "sk-Test0123456789abcdefghijkl", "QUERYSECRET-556677", "SIGOPAQUE7XXXXXXXXXXXXXXXXX"
	said := "tail " + key[8:] + " head " + key[:24] + " lower " + strings.ToLower(key) + " url ?sig=" + sig + " signature " + opaque + ". Use another key, please."
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, said)
	}))
	defer server.Close()
	c := New(Config{Name: "p", Key: channels.NewSecret(key), BaseURL: server.URL})
	ctx, try := c.Start(t.Context())
	defer try.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(`{"messages":[{"thought_signature":"`+opaque+`"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	try.Hide(agent.ModelSettings{Query: map[string]string{"sig": sig}}, server.URL)
	res, err := c.HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	e, ok := errors.AsType[*agent.ModelError](try.Error(errors.New("refused")))
	if !ok || e.Said != "tail [secret] head [secret] lower [secret] url ?sig=[secret] signature [secret]. Use another key, please." {
		t.Errorf("%q", e.Said)
	}
}
