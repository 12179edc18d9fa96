package openai_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"parley/agent"
	"parley/gateway/gatewaytest"
)

// A model that writes a secret of the configuration, whole or letter by letter, tells it to nobody: not in answers and streams of either
// API, not in the events that a page gets, nor in the history.
//
// source: docs/security.md, On disk
func TestAnswersHaveNoSecrets(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+gatewaytest.OwnersToken)
	events, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = events.Body.Close() }()
	seen := make(chan string)
	go func() {
		var all strings.Builder
		for lines := bufio.NewScanner(events.Body); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
		}
		seen <- all.String()
	}()
	const want = "It is [secret], the-token… [secret]!"
	c := o.Client(gatewaytest.AnnsToken)
	p := gatewaytest.Talk("parley", "", "what is the token?")
	for _, size := range []int{1, 3, 1000} {
		o.Model.Does(func(_ context.Context, _ agent.Prompt, yield func(string)) error {
			for said := "It is " + gatewaytest.OwnersToken + ", the-token… " + gatewaytest.BobsToken + "!"; said != ""; {
				n := min(size, len(said))
				yield(said[:n])
				said = said[n:]
			}
			return nil
		})
		out, err := c.Chat.Completions.New(t.Context(), p)
		if err != nil || out.Choices[0].Message.Content != want {
			t.Errorf("answered %+v: %v", out, err)
		}
		s, got := c.Chat.Completions.NewStreaming(t.Context(), p), ""
		for s.Next() {
			for _, ch := range s.Current().Choices {
				if got += ch.Delta.Content; !strings.HasPrefix(want, got) {
					t.Errorf("streamed %q", got)
				}
			}
		}
		if s.Err() != nil || got != want {
			t.Errorf("streamed %q: %v", got, s.Err())
		}
		r := c.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: shared.ResponsesModel("parley"), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("and now?")}})
		for got = ""; r.Next(); {
			got += r.Current().RawJSON()
		}
		if r.Err() != nil || !strings.Contains(got, want) || strings.Contains(got, gatewaytest.OwnersToken[:len("the-token-of")]) {
			t.Errorf("streamed %q: %v", got, r.Err())
		}
	}
	o.Stop()
	if all := <-seen; !strings.Contains(all, want) || strings.Contains(all, "the-token-of") {
		t.Errorf("events:\n%s", all)
	}
}
