package openai_test

import (
	"context"
	"net/http"
	"testing"

	"parley/agent"
	"parley/gateway/gatewaytest"
)

// A client that hangs up and sends the same request again, by its idempotency key, has the answer of the first one.
func TestOpenAIComesAgain(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken, "Idempotency-Key", "k1")
	begun, goOn := make(chan bool), make(chan bool)
	o.Model.Does(func(ctx context.Context, _ agent.Prompt, yield func(string)) error {
		close(begun)
		select {
		case <-goOn:
			yield("only once")
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Chat.Completions.New(ctx, gatewaytest.Talk("parley", "", "slowly"))
		ended <- err
	}()
	<-begun
	hangUp()
	if <-ended == nil {
		t.Fatal("it did not hang up")
	}
	o.Over(http.MethodPost, "/v1/") // the host has noticed
	close(goOn)
	x, err := c.Chat.Completions.New(t.Context(), gatewaytest.Talk("parley", "", "slowly"))
	if err != nil || x.Choices[0].Message.Content != "only once" {
		t.Errorf("%+v %v", x, err)
	}
}
