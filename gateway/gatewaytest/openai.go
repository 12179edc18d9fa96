package gatewaytest

import (
	"errors"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Client is the official client with a token, and with further headers.
func (o *Outside) Client(token string, header ...string) openai.Client {
	opts := []option.RequestOption{option.WithBaseURL(o.URL + "/v1/"), option.WithAPIKey(token), option.WithMaxRetries(0)}
	for i := 0; i+1 < len(header); i += 2 {
		opts = append(opts, option.WithHeader(header[i], header[i+1]))
	}
	return openai.NewClient(opts...)
}

// Talk is a conversation with a model, a user's line and an agent's in turn; the last one is the user's.
func Talk(model, user string, said ...string) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: model}
	if user != "" {
		p.User = openai.String(user)
	}
	for i, s := range said {
		if i%2 == len(said)%2 {
			p.Messages = append(p.Messages, openai.AssistantMessage(s))
		} else {
			p.Messages = append(p.Messages, openai.UserMessage(s))
		}
	}
	return p
}

// Chat has a chat completion and gives its text.
func (o *Outside) Chat(token string, p openai.ChatCompletionNewParams, opts ...option.RequestOption) string {
	o.T.Helper()
	c := o.Client(token)
	out, err := c.Chat.Completions.New(o.T.Context(), p, opts...)
	if err != nil {
		o.T.Fatal(err)
	}
	return out.Choices[0].Message.Content
}

// Refused gives the error of a request that must fail.
func Refused(t *testing.T, err error) *openai.Error {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("want an error of the API, not %v", err)
	}
	return e
}
