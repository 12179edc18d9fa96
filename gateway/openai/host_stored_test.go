package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"parley/agent"
	"parley/gateway/gatewaytest"
)

// sayOnce is a request for a response.
func sayOnce(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: "parley", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
}

// TestOpenAIStored: a response is given again as it was, also after a restart, in both ways of making it, to who made it and to owners.
func TestOpenAIStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := openHost(t, dir, gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	first, err := c.Responses.New(t.Context(), sayOnce("first"))
	if err != nil {
		t.Fatal(err)
	}
	q := sayOnce("hello")
	q.Instructions, q.PreviousResponseID, q.Metadata = openai.String("Be brief."), openai.String(first.ID), map[string]string{"ticket": "7"}
	q.Reasoning.Effort = "low"
	one, err := c.Responses.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Responses.NewStreaming(t.Context(), sayOnce("streamed"))
	var streamed responses.Response
	for s.Next() {
		streamed = s.Current().Response
	}
	q = sayOnce("not kept")
	q.Store = openai.Bool(false)
	lost, err := c.Responses.New(t.Context(), q)
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	done, err := c.Chat.Completions.New(t.Context(), gatewaytest.Talk("parley", "", "a completion"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c = o.Client(gatewaytest.AnnsToken)
		for _, want := range []responses.Response{*first, *one, streamed} {
			got, err := c.Responses.Get(t.Context(), want.ID, responses.ResponseGetParams{})
			if err != nil {
				t.Fatal(err)
			}
			if got.RawJSON() != want.RawJSON() {
				t.Errorf("the response\n%s is given again as\n%s", want.RawJSON(), got.RawJSON())
			}
		}
		items, err := c.Responses.InputItems.List(t.Context(), one.ID, responses.InputItemListParams{})
		if err != nil || len(items.Data) != 1 || items.Data[0].Content.OfInputItemContentList[0].Text != "hello" {
			t.Errorf("its input is %+v, %v", items, err)
		}
		for name, x := range map[string]struct{ token, id string }{
			"another's":       {gatewaytest.BobsToken, one.ID},
			"a reader's":      {gatewaytest.ReadToken, one.ID},
			"unknown":         {gatewaytest.AnnsToken, "resp_00000000-0000-4000-8000-000000000000"},
			"no id":           {gatewaytest.AnnsToken, "nonsense"},
			"not stored":      {gatewaytest.AnnsToken, lost.ID},
			"of a completion": {gatewaytest.AnnsToken, strings.Replace(done.ID, "chatcmpl-", "resp_", 1)},
		} {
			d := o.Client(x.token)
			_, err := d.Responses.Get(t.Context(), x.id, responses.ResponseGetParams{})
			if e := gatewaytest.Refused(t, err); e.StatusCode != http.StatusNotFound || e.Code != "response_not_found" || e.Param != "response_id" || e.Type != "invalid_request_error" {
				t.Errorf("%s response is answered with %d %s %s", name, e.StatusCode, e.Code, e.Param)
			}
			if got := o.Status("GET", "/v1/responses/"+x.id+"/input_items", x.token, ""); got != http.StatusNotFound {
				t.Errorf("the input of %s response is answered with %d", name, got)
			}
			if got := o.Status("POST", "/v1/responses/"+x.id+"/cancel", x.token, ""); got != http.StatusNotFound && x.token != gatewaytest.ReadToken {
				t.Errorf("cancelling %s response is answered with %d", name, got)
			}
		}
		d := o.Client(gatewaytest.OwnersToken)
		if got, err := d.Responses.Get(t.Context(), one.ID, responses.ResponseGetParams{}); err != nil || got.OutputText() != one.OutputText() {
			t.Errorf("the owner is given %v, %v", got, err)
		}
		if got := o.Status("GET", "/v1/responses/"+one.ID+"?stream=true", gatewaytest.AnnsToken, ""); got != http.StatusBadRequest {
			t.Errorf("a stream of it is answered with %d", got)
		}
		if got := o.Status("DELETE", "/v1/responses/"+one.ID, gatewaytest.AnnsToken, ""); got != http.StatusMethodNotAllowed {
			t.Errorf("DELETE is answered with %d", got)
		}
		o.Stop()
		o = openHost(t, dir, gatewaytest.OutsideOn)
	}
}

// TestOpenAIStoredFailure: a run that failed is told by its response, also after a restart, without what went wrong inside.
func TestOpenAIStoredFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := openHost(t, dir, gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	o.Model.Does(func(context.Context, agent.Prompt, func(string)) error { return errors.New("out of order") })
	s := c.Responses.NewStreaming(t.Context(), sayOnce("x"))
	var end responses.Response
	for s.Next() {
		if s.Current().Type == "response.failed" {
			end = s.Current().Response
		}
	}
	for range 2 {
		c = o.Client(gatewaytest.AnnsToken)
		got, err := c.Responses.Get(t.Context(), end.ID, responses.ResponseGetParams{})
		if err != nil || got.Status != "failed" || got.Error.Code != "server_error" || got.Error.Message != end.Error.Message || strings.Contains(got.RawJSON(), "out of order") {
			t.Errorf("the response is %s, %v", got.RawJSON(), err)
		}
		o.Stop()
		o = openHost(t, dir, gatewaytest.OutsideOn)
	}
}

// TestOpenAICancel: a response under way says so, and is cancelled; one that has ended stays as it is.
func TestOpenAICancel(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	begun := make(chan bool)
	o.Model.Does(func(ctx context.Context, _ agent.Prompt, _ func(string)) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	})
	s := c.Responses.NewStreaming(t.Context(), sayOnce("slowly"))
	if !s.Next() {
		t.Fatal(s.Err())
	}
	id := s.Current().Response.ID
	<-begun
	if got, err := c.Responses.Get(t.Context(), id, responses.ResponseGetParams{}); err != nil || got.Status != "in_progress" || len(got.Output) != 0 {
		t.Errorf("under way it is %v, %v", got, err)
	}
	for range 2 {
		if got, err := c.Responses.Cancel(t.Context(), id); err != nil || got.Status != "cancelled" {
			t.Errorf("cancelled it is %v, %v", got, err)
		}
	}
	for s.Next() {
	}
	if s.Err() == nil || !strings.Contains(s.Err().Error(), "run_stopped") {
		t.Errorf("its stream ends with %v", s.Err())
	}
	o.Model.Does(nil)
	done, err := c.Responses.New(t.Context(), sayOnce("x"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Responses.Cancel(t.Context(), done.ID); err != nil || got.Status != "completed" || got.OutputText() != "echo: x" {
		t.Errorf("one that has ended is %v, %v", got, err)
	}
}

// TestOpenAIClientTools: clients that always send tools are refused, in words that name the switch, until the configuration says that
// their tools are ignored.
// source: continuedev/continue, langchain-ai/langchainjs: agents send tools with each request
func TestOpenAIClientTools(t *testing.T) {
	t.Parallel()
	const function = `{"name": "f", "description": "d", "parameters": {"type": "object"}}`
	chat := func(more string) string {
		return `{"model": "parley", "messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "o"}, {"role": "user", "content": "hello"}], ` + more + `}`
	}
	response := func(more string) string { return `{"model": "parley", "input": "hello", ` + more + `}` }
	rows := map[string]struct {
		endpoint, body, param string
	}{
		"tools":              {"chat/completions", chat(`"tools": [{"type": "function", "function": ` + function + `}], "tool_choice": "auto", "parallel_tool_calls": false`), "tools"},
		"a tool is required": {"chat/completions", chat(`"tools": [{"type": "function", "function": ` + function + `}], "tool_choice": {"type": "function", "function": {"name": "f"}}`), "tools"},
		"functions":          {"chat/completions", chat(`"functions": [` + function + `], "function_call": "auto"`), "functions"},
		"odd tools":          {"chat/completions", chat(`"tools": {"f": ` + function + `}`), "tools"},
		"response":           {"responses", response(`"tools": [{"type": "function", "name": "f"}, {"type": "web_search"}], "tool_choice": "required"`), "tools"},
		"calls of before":    {"responses", `{"model": "parley", "input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": "o"}, {"role": "user", "content": "hello"}]}`, "input"},
	}
	refuses, ignores := openHost(t, t.TempDir(), gatewaytest.OutsideOn), openHost(t, t.TempDir(), strings.Replace(gatewaytest.OutsideOn, "enabled: true", "enabled: true, tools: ignore", 1))
	post := func(o *open, endpoint, body string) (text []byte, err error) {
		c := o.Client(gatewaytest.AnnsToken)
		err = c.Post(t.Context(), endpoint, json.RawMessage(body), &text)
		return text, err
	}
	for name, x := range rows {
		_, err := post(refuses, x.endpoint, x.body)
		if e := gatewaytest.Refused(t, err); e.StatusCode != http.StatusBadRequest || e.Param != x.param || x.param != "input" && !strings.Contains(e.Message, "gateway.openai.tools to ignore") {
			t.Errorf("%s is answered with %d %s %q", name, e.StatusCode, e.Param, e.Message)
		}
		if text, err := post(ignores, x.endpoint, x.body); err != nil || !strings.Contains(string(text), `hello"`) {
			t.Errorf("%s, ignored, is answered with %s %v", name, text, err)
		}
	}
	if n := refuses.Model.Count(); n != 0 {
		t.Errorf("%d turns were begun for what was refused", n)
	}
	for _, p := range ignores.Model.Asked() {
		for _, s := range p.Tools {
			if s.Name == "f" {
				t.Error("the model is shown the client's tool")
			}
		}
	}
	for name, x := range map[string]struct{ endpoint, body string }{
		"no tools":        {"chat/completions", chat(`"tools": [], "functions": null`)},
		"no choice":       {"chat/completions", chat(`"tools": [{"type": "function", "function": ` + function + `}], "tool_choice": "none"`)},
		"no function":     {"chat/completions", chat(`"functions": [` + function + `], "function_call": "none"`)},
		"no choice there": {"responses", response(`"tools": [{"type": "function", "name": "f"}], "tool_choice": "none"`)},
	} {
		if _, err := post(refuses, x.endpoint, x.body); err != nil {
			t.Errorf("%s is answered with %v", name, err)
		}
	}
	for endpoint, body := range map[string]string{
		"chat/completions": `{"model": "parley", "messages": [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "c", "content": "o"}]}`,
		"responses":        `{"model": "parley", "input": [{"role": "user", "content": "x"}, {"type": "function_call_output", "call_id": "c", "output": "o"}]}`,
	} {
		for _, o := range []*open{refuses, ignores} {
			if _, err := post(o, endpoint, body); gatewaytest.Refused(t, err).StatusCode != http.StatusBadRequest {
				t.Errorf("the result of a tool is answered with %v", err)
			}
		}
	}
}

// TestOpenAIReferences: an item that stands for an earlier answer is that answer, for whoever may see it.
// source: vercel/ai packages/openai, convert-to-openai-responses-input: answers go back as item_reference unless store is false
func TestOpenAIReferences(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	one, err := c.Responses.New(t.Context(), sayOnce("one"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token, user string, refs ...string) (*responses.Response, error) {
		q := responses.ResponseNewParams{Model: "parley"}
		if user != "" {
			q.User = openai.String(user)
		}
		items := []responses.ResponseInputItemUnionParam{responses.ResponseInputItemParamOfMessage("one", "user")}
		for _, id := range refs {
			items = append(items, responses.ResponseInputItemParamOfItemReference(id))
		}
		q.Input.OfInputItemList = append(items, responses.ResponseInputItemParamOfMessage("two", "user"))
		d := o.Client(token)
		return d.Responses.New(t.Context(), q)
	}
	if x, err := ask(gatewaytest.AnnsToken, "", one.Output[0].ID); err != nil || x.OutputText() != "echo: The conversation so far:\n\n> user: one\n> assistant: echo: one\n\ntwo" {
		t.Errorf("it says %v, %v", x, err)
	}
	if x, err := ask(gatewaytest.AnnsToken, "u1", "msg_of_another_model"); err != nil || x.OutputText() != "echo: two" {
		t.Errorf("in a kept session it says %v, %v", x, err)
	}
	for name, x := range map[string]struct {
		token  string
		refs   []string
		status int
	}{
		"another's": {gatewaytest.BobsToken, []string{one.Output[0].ID}, http.StatusNotFound},
		"unknown":   {gatewaytest.AnnsToken, []string{"msg_nothing"}, http.StatusNotFound},
		"too many":  {gatewaytest.AnnsToken, slices.Repeat([]string{one.Output[0].ID}, 501), http.StatusBadRequest},
	} {
		_, err := ask(x.token, "", x.refs...)
		if e := gatewaytest.Refused(t, err); e.StatusCode != x.status || e.Param != "input" {
			t.Errorf("%s: %d %s %s", name, e.StatusCode, e.Param, e.Message)
		}
	}
}
