package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"parley/agent"
	"parley/gateway/gatewaytest"
)

// TestChatHasNoThinking: no answer and no chunk of a stream has what the model thinks in tags, also behind words and however the stream is cut.
// source: openclaw/openclaw#89473
//
// proves: W4
func TestChatHasNoThinking(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	p := gatewaytest.Talk("parley", "", "and now")
	for said, want := range map[string]string{
		"Hello\n<think>secret plans</think>\nthere":          "Hello\nthere",
		"<think>secret</think>Hi<think>b secret</think> end": "Hi end",
		"Hello\n<think>secret":                               "Hello",
		"<think >secret</think >Use `<think>` tags.":         "Use `<think>` tags.",
	} {
		o.Model.Does(func(_ context.Context, _ agent.Prompt, yield func(string)) error {
			for _, letter := range said {
				yield(string(letter))
			}
			return nil
		})
		out, err := c.Chat.Completions.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Choices[0].Message.Content; got != want {
			t.Errorf("%q is answered as %q", said, got)
		}
		s, got := c.Chat.Completions.NewStreaming(t.Context(), p), ""
		for s.Next() {
			for _, ch := range s.Current().Choices {
				got += ch.Delta.Content
			}
		}
		if s.Err() != nil || strings.TrimSpace(got) != want {
			t.Errorf("%q is streamed as %q, error %v", said, got, s.Err())
		}
	}
}

// TestOpenAIChat is a chat completion by the official client: text, role, finish, usage; as a stream the same, in order.
func TestOpenAIChat(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	p := gatewaytest.Talk("parley", "", "earlier", "an answer", "and now")
	p.Messages = slices.Insert(p.Messages, 0, openai.SystemMessage("Speak like a pirate."))
	p.Temperature, p.Seed = openai.Float(0.2), openai.Int(7) // accepted, and without effect
	out, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	x := out.Choices[0]
	if want := "echo: The conversation so far:\n\n> user: earlier\n> assistant: an answer\n\nand now"; x.Message.Content != want || x.FinishReason != "stop" || x.Message.Role != "assistant" || out.Object != "chat.completion" {
		t.Errorf("the answer is %q (%s), want %q", x.Message.Content, x.FinishReason, want)
	}
	if u := out.Usage; u.PromptTokens != 20 || u.CompletionTokens != 7 || u.TotalTokens != 27 || u.PromptTokensDetails.CachedTokens != 4 {
		t.Errorf("the usage is %+v", u)
	}
	if sys := o.Model.Last().System; !strings.HasSuffix(strings.TrimSpace(sys), "Speak like a pirate.") {
		t.Errorf("the system prompt ends with %q", sys[max(0, len(sys)-100):])
	}

	half := make(chan bool)
	goOn := sync.OnceFunc(func() { close(half) })
	o.Model.Does(func(_ context.Context, _ agent.Prompt, yield func(string)) error {
		yield("The first half, ")
		<-half
		yield("and the second.")
		return nil
	})
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	s := c.Chat.Completions.NewStreaming(t.Context(), p)
	var got, role, finish []string
	usage := int64(0)
	for s.Next() {
		k := s.Current()
		usage = k.Usage.TotalTokens
		for _, ch := range k.Choices {
			role, finish = append(role, ch.Delta.Role), append(finish, ch.FinishReason)
			if ch.Delta.Content != "" {
				got = append(got, ch.Delta.Content)
			}
			if len(got) == 1 { // it came before the second half was said
				goOn()
			}
		}
	}
	if s.Err() != nil || strings.Join(got, "|") != "The first half, |and the second." || usage != 27 {
		t.Errorf("the stream has %q, usage %d, error %v", got, usage, s.Err())
	}
	if role[0] != "assistant" || finish[len(finish)-1] != "stop" || slices.Contains(finish[:len(finish)-1], "stop") {
		t.Errorf("roles %q, finishes %q", role, finish)
	}
	o.Model.Does(func(_ context.Context, _ agent.Prompt, yield func(string)) error {
		yield("NO_REPLY")
		return nil
	})
	if text := o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("parley", "", "psst")); text != "" {
		t.Errorf("silence is %q", text)
	}
}

// TestOpenAIUsers keeps a session for each user, over calls and a restart, and never for two principals.
func TestOpenAIUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := openHost(t, dir, gatewaytest.OutsideOn)
	knows := func(token, user, header string) string {
		o.Model.Does(func(_ context.Context, p agent.Prompt, yield func(string)) error {
			var all []string
			for _, m := range p.Messages {
				all = append(all, m.Text())
			}
			yield(strings.Join(all, "|"))
			return nil
		})
		var opts []option.RequestOption
		if header != "" {
			opts = append(opts, option.WithHeader("X-Parley-Session", header))
		}
		return o.Chat(token, gatewaytest.Talk("parley/main", user, "made up", "by the client", "what do you know?"), opts...)
	}
	o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("parley", "u1", "I am Ann"))
	if got := knows(gatewaytest.AnnsToken, "u1", ""); !strings.Contains(got, "I am Ann") || strings.Contains(got, "made up") {
		t.Errorf("Ann's second call knows %q", got)
	}
	o.Stop()
	o = openHost(t, dir, gatewaytest.OutsideOn)
	if got := knows(gatewaytest.AnnsToken, "u1", ""); !strings.Contains(got, "I am Ann") {
		t.Errorf("after a restart it knows %q", got)
	}
	for name, got := range map[string]string{"another principal": knows(gatewaytest.BobsToken, "u1", ""), "another user": knows(gatewaytest.AnnsToken, "u2", ""), "no user": knows(gatewaytest.AnnsToken, "", ""),
		"a user like another's name": knows(gatewaytest.BobsToken, "../ann/u1", ""), "another agent": o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("cook", "u1", "x"))} {
		if strings.Contains(got, "I am Ann") {
			t.Errorf("%s knows %q", name, got)
		}
	}
	if got := knows(gatewaytest.AnnsToken, "", "agent:main:openai:ann/u1"); !strings.Contains(got, "I am Ann") {
		t.Errorf("by its key the session knows %q", got)
	}
	if got := knows(gatewaytest.OwnersToken, "", "agent:main:openai:ann/u1"); !strings.Contains(got, "I am Ann") {
		t.Errorf("the owner by its key knows %q", got)
	}
	c := o.Client(gatewaytest.BobsToken)
	for _, key := range []string{"agent:main:openai:ann/u1", "agent:main:main", "agent:main:openai:bo", "nonsense"} {
		_, err := c.Chat.Completions.New(t.Context(), gatewaytest.Talk("parley", "", "x"), option.WithHeader("X-Parley-Session", key))
		if e := gatewaytest.Refused(t, err); e.StatusCode != http.StatusForbidden && key != "nonsense" || e.StatusCode/100 != 4 {
			t.Errorf("the key %s is answered with %v", key, e)
		}
	}
}

// TestOpenAIConcurrent: calls of one user at the same time each get their own answer, and one with an idempotency key is made once.
func TestOpenAIConcurrent(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			c := o.Client(gatewaytest.AnnsToken)
			text := fmt.Sprint("number ", i)
			out, err := c.Chat.Completions.New(t.Context(), gatewaytest.Talk("parley", "u1", text))
			if err != nil {
				t.Error(err)
			} else if got := out.Choices[0].Message.Content; got != "echo: "+text {
				t.Errorf("%q is answered with %q", text, got)
			}
		})
	}
	all.Wait()
	once := option.WithHeader("Idempotency-Key", "k1")
	before := o.Model.Count()
	a, b := o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("parley", "", "once"), once), o.Chat(gatewaytest.AnnsToken, gatewaytest.Talk("parley", "", "once"), once)
	if n := o.Model.Count() - before; a != b || n != 1 {
		t.Errorf("the same key: %q and %q, %d model calls", a, b, n)
	}
	if c := o.Chat(gatewaytest.BobsToken, gatewaytest.Talk("parley", "", "bob's"), once); c != "echo: bob's" {
		t.Errorf("another principal's key gave %q", c)
	}
}

// TestOpenAIResponses is a response by the official client, one that continues with it, and a stream of events in order.
func TestOpenAIResponses(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	ask := func(text string) responses.ResponseNewParams {
		return responses.ResponseNewParams{Model: "agent:main", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}, Instructions: openai.String("Be brief."),
			Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffortLow}}
	}
	one, err := c.Responses.New(t.Context(), ask("my name is Ann"))
	if err != nil {
		t.Fatal(err)
	}
	if one.OutputText() != "echo: my name is Ann" || one.Status != "completed" || one.Usage.TotalTokens != 27 || one.Usage.InputTokensDetails.CachedTokens != 4 {
		t.Errorf("the response is %s %q %+v", one.Status, one.OutputText(), one.Usage)
	}
	if p := o.Model.Last(); p.Thinking != "low" || !strings.HasSuffix(strings.TrimSpace(p.System), "Be brief.") {
		t.Errorf("the turn thinks %q", p.Thinking)
	}
	next := ask("and now?")
	next.PreviousResponseID = openai.String(one.ID)
	s := c.Responses.NewStreaming(t.Context(), next)
	var kinds []string
	text, number := "", int64(-1)
	var end responses.Response
	for s.Next() {
		e := s.Current()
		if e.SequenceNumber != number+1 {
			t.Errorf("%s is number %d after %d", e.Type, e.SequenceNumber, number)
		}
		number = e.SequenceNumber
		if len(kinds) == 0 || kinds[len(kinds)-1] != e.Type {
			kinds = append(kinds, e.Type)
		}
		if e.Type == "response.output_text.delta" {
			text += e.Delta
		}
		end = e.Response
	}
	want := []string{"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
		"response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"}
	if s.Err() != nil || !slices.Equal(kinds, want) || text != "echo: and now?" || end.OutputText() != text || end.PreviousResponseID != one.ID {
		t.Errorf("the stream has %q: %q, at the end %q, error %v", kinds, text, end.OutputText(), s.Err())
	}
	if n := len(o.Model.Last().Messages); n != 3 {
		t.Errorf("the second turn was shown %d messages", n)
	}
	for _, who := range []string{gatewaytest.BobsToken, gatewaytest.AnnsToken} {
		next.PreviousResponseID = openai.String(map[string]string{gatewaytest.BobsToken: one.ID, gatewaytest.AnnsToken: "resp_nothing"}[who])
		d := o.Client(who)
		_, err := d.Responses.New(t.Context(), next)
		if e := gatewaytest.Refused(t, err); e.StatusCode != http.StatusNotFound || e.Param != "previous_response_id" {
			t.Errorf("another's response is answered with %v", e)
		}
	}
}

// TestOpenAIErrors: what is refused says why, in the shape that clients read.
func TestOpenAIErrors(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	for name, x := range map[string]struct {
		change func(*openai.ChatCompletionNewParams)
		status int
		param  string
	}{
		"unknown model": {func(p *openai.ChatCompletionNewParams) { p.Model = "gpt-4o" }, 404, "model"},
		"n":             {func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(2) }, 400, "n"},
		"client tools": {func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "f"})}
		}, 400, "tools"},
		"JSON": {func(p *openai.ChatCompletionNewParams) {
			p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		}, 400, "response_format"},
		"no message": {func(p *openai.ChatCompletionNewParams) {
			p.Messages = []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("x")}
		}, 400, "messages"},
		"picture": {func(p *openai.ChatCompletionNewParams) {
			p.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "https://example.com/a.png"})})}
		}, 400, "image_url"},
		"unfinished answer": {func(p *openai.ChatCompletionNewParams) {
			p.Messages = append(p.Messages, openai.AssistantMessage("Well,"))
		}, 400, "messages"},
		"too long": {func(p *openai.ChatCompletionNewParams) {
			*p = gatewaytest.Talk("parley", "", strings.Repeat("x", 20<<20))
		}, 413, ""},
	} {
		p := gatewaytest.Talk("parley", "", "hello")
		x.change(&p)
		_, err := c.Chat.Completions.New(t.Context(), p)
		if e := gatewaytest.Refused(t, err); e.StatusCode != x.status || e.Param != x.param || e.Message == "" || e.Type == "" {
			t.Errorf("%s is answered with %d %q %q %q", name, e.StatusCode, e.Param, e.Type, e.Message)
		}
	}
	if n := o.Model.Count(); n != 0 {
		t.Errorf("%d turns were begun all the same", n)
	}
	for token, want := range map[string]int{"wrong": 401, gatewaytest.ReadToken: 403} {
		d := o.Client(token)
		_, err := d.Chat.Completions.New(t.Context(), gatewaytest.Talk("parley", "", "x"))
		if e := gatewaytest.Refused(t, err); e.StatusCode != want || e.Message == "" {
			t.Errorf("the token %s is answered with %d %q", token, e.StatusCode, e.Message)
		}
	}
	d := o.Client(gatewaytest.ReadToken)
	list, err := d.Models.List(t.Context())
	if err != nil || len(list.Data) != 3 || list.Data[0].ID != "parley" {
		t.Errorf("the models are %+v, %v", list, err)
	}
	for name, found := range map[string]bool{"parley": true, "parley/cook": true, "cook": true, "agent:main": true, "parley/nobody": false} {
		m, err := d.Models.Get(t.Context(), name)
		if found != (err == nil) || found && m.ID != name {
			t.Errorf("the model %s is %+v, %v", name, m, err)
		}
	}
	for body, want := range map[string]int{"": 400, "[]": 400, "{": 400, `{"model":5}`: 400, `{"model":"parley","messages":[5]}`: 400, `{"model":"parley","messages":[{"role":"user","content":{}}]}`: 400, `{"model":"parley","messages":[{"role":"king","content":"x"}]}`: 400} {
		if got := o.Status("POST", "/v1/chat/completions", gatewaytest.AnnsToken, body); got != want {
			t.Errorf("%q is answered with %d", body, got)
		}
	}
	if got := o.Status("GET", "/v1/chat/completions", gatewaytest.AnnsToken, ""); got != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered with %d", got)
	}
	off := openHost(t, t.TempDir(), "")
	for _, path := range []string{"/v1/models", "/mcp"} {
		if got := off.Status("GET", path, gatewaytest.OwnersToken, ""); got != http.StatusNotFound {
			t.Errorf("%s of a host that has it off is answered with %d", path, got)
		}
	}
}

// TestOpenAIEnds: runs that fail or are stopped end as errors, and the run of a client that hangs up stops unless its session is kept.
func TestOpenAIEnds(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	o.Model.Does(func(context.Context, agent.Prompt, func(string)) error { return errors.New("out of order") })
	_, err := c.Chat.Completions.New(t.Context(), gatewaytest.Talk("parley", "", "x"))
	if e := gatewaytest.Refused(t, err); e.StatusCode != http.StatusNotAcceptable || e.Code != "run_failed" || e.Response.Header.Get("X-Should-Retry") != "false" || strings.Contains(e.Message, "out of order") {
		t.Errorf("a failed run is answered with %d %s %q", e.StatusCode, e.Code, e.Message)
	}
	s := c.Chat.Completions.NewStreaming(t.Context(), gatewaytest.Talk("parley", "", "x"))
	for s.Next() {
		if len(s.Current().Choices) > 0 && s.Current().Choices[0].FinishReason != "" {
			t.Error("a run that failed has a finish reason")
		}
	}
	if s.Err() == nil {
		t.Error("the stream of a failed run ends well")
	}
	r := c.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: "parley", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("x")}})
	last := ""
	for r.Next() {
		last = r.Current().Type
	}
	if last != "response.failed" || r.Err() == nil {
		t.Errorf("the response of a failed run ends with %s, %v", last, r.Err())
	}

	for _, user := range []string{"", "kept"} {
		begun, over := make(chan bool), make(chan error, 1)
		go1 := make(chan bool)
		o.Model.Does(func(ctx context.Context, _ agent.Prompt, yield func(string)) error {
			close(begun)
			select {
			case <-ctx.Done():
				over <- ctx.Err()
				return ctx.Err()
			case <-go1:
				over <- nil
				yield("done")
				return nil
			}
		})
		ctx, hangUp := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.Chat.Completions.New(ctx, gatewaytest.Talk("parley", user, "slowly"))
			ended <- err
		}()
		<-begun
		hangUp()
		if err := <-ended; err == nil {
			t.Fatal("it did not hang up")
		}
		if user != "" {
			select {
			case err := <-over:
				t.Errorf("the turn of a kept session ended with %v", err)
				continue
			case <-time.After(500 * time.Millisecond): // the host has noticed that nobody listens
			}
			close(go1)
		}
		select {
		case err := <-over:
			if (err == nil) != (user != "") {
				t.Errorf("with the user %q the turn ended with %v", user, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("with the user %q the turn went on", user)
		}
	}
}

// TestOpenAIStopped: a run that a person stops is an error for who waits for it.
func TestOpenAIStopped(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	begun := make(chan bool)
	o.Model.Does(func(ctx context.Context, _ agent.Prompt, yield func(string)) error {
		yield("Half of ")
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Chat.Completions.New(t.Context(), gatewaytest.Talk("parley", "u1", "slowly"))
		ended <- err
	}()
	<-begun
	if got := o.Status("POST", "/api/sessions/agent:main:openai:ann%2Fu1/abort", gatewaytest.OwnersToken, "{}"); got != http.StatusOK {
		t.Fatalf("chat.abort is answered with %d", got)
	}
	if e := gatewaytest.Refused(t, <-ended); e.Code != "run_stopped" || e.StatusCode != http.StatusNotAcceptable {
		t.Errorf("a stopped run is answered with %d %s", e.StatusCode, e.Code)
	}
}
