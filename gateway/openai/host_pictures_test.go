package openai_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"parley/agent"
	"parley/gateway/gatewaytest"
	"parley/router/filestore"
	"parley/router/turn"
	"parley/sessions"
)

// drawn is a picture of a width, as its address has it.
func drawn(t *testing.T, width int) (url, data string) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))); err != nil {
		t.Fatal(err)
	}
	data = base64.StdEncoding.EncodeToString(b.Bytes())
	return "data:image/png;base64," + data, data
}

// seen are the pictures of a prompt.
func seen(p agent.Prompt) (all []string) {
	for _, m := range p.Messages {
		for _, b := range m.Content {
			if b.Type == sessions.ImageBlock {
				all = append(all, b.Data)
			}
		}
	}
	return all
}

// looks is a message with pictures, of both endpoints.
func looks(text string, urls ...string) (chat openai.ChatCompletionMessageParamUnion, in responses.ResponseInputItemUnionParam) {
	var parts []openai.ChatCompletionContentPartUnionParam
	var content responses.ResponseInputMessageContentListParam
	if text != "" {
		parts = append(parts, openai.TextContentPart(text))
		content = append(content, responses.ResponseInputContentParamOfInputText(text))
	}
	for _, u := range urls {
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: u}))
		content = append(content, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String(u), Detail: "auto"}})
	}
	return openai.UserMessage(parts), responses.ResponseInputItemParamOfMessage(content, "user")
}

// TestOpenAIPictures: pictures in a request reach the model, those of earlier messages too, and in a kept session after a restart.
func TestOpenAIPictures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := openHost(t, dir, gatewaytest.OutsideOn)
	url1, one := drawn(t, 1)
	url2, two := drawn(t, 2)
	ask := func(user string, msgs ...openai.ChatCompletionMessageParamUnion) string {
		t.Helper()
		p := gatewaytest.Talk("parley", user)
		p.Messages = msgs
		return o.Chat(gatewaytest.AnnsToken, p)
	}
	first, item := looks("what is this?", url1)
	second, _ := looks("", url2)
	if got := ask("", first, openai.AssistantMessage("A dot."), second); !strings.Contains(got, "> user: what is this?\n> [picture]\n> assistant: A dot.") {
		t.Errorf("the conversation is %q", got)
	}
	if got := seen(o.Model.Last()); !slices.Equal(got, []string{one, two}) {
		t.Errorf("the model sees %q", got)
	}
	ask("u1", first)
	o.Stop()
	o = openHost(t, dir, gatewaytest.OutsideOn)
	ask("u1", openai.UserMessage("and its colour?"))
	if got := seen(o.Model.Last()); !slices.Equal(got, []string{one}) {
		t.Errorf("after a restart the model sees %q", got)
	}
	c := o.Client(gatewaytest.AnnsToken)
	if _, err := c.Responses.New(t.Context(), responses.ResponseNewParams{Model: "parley", Input: responses.ResponseNewParamsInputUnion{OfInputItemList: []responses.ResponseInputItemUnionParam{item}}}); err != nil {
		t.Fatal(err)
	}
	if got := seen(o.Model.Last()); !slices.Equal(got, []string{one}) {
		t.Errorf("a response sees %q", got)
	}
	var many []openai.ChatCompletionMessageParamUnion
	for range turn.MaxPictures {
		many = append(many, first)
	}
	ask("", append(many, second)...)
	if got := seen(o.Model.Last()); len(got) != turn.MaxPictures || got[0] != one || got[len(got)-1] != two {
		t.Errorf("of %d pictures the model sees %d", len(many)+1, len(got))
	}
}

// TestOpenAIPicturesRefused: what is no picture in the request itself is refused in words, before a turn is begun; nothing is fetched.
func TestOpenAIPicturesRefused(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	c := o.Client(gatewaytest.AnnsToken)
	url, _ := drawn(t, 1)
	large := "data:image/gif;base64," + base64.StdEncoding.EncodeToString(append([]byte("GIF89a"), make([]byte, filestore.MaxPicture)...))
	for name, x := range map[string]struct {
		urls []string
		why  string
	}{
		"an address":   {[]string{o.URL + "/picture.png"}, "parley does not fetch URLs"},
		"a file":       {[]string{"file:///etc/passwd"}, "parley does not fetch URLs"},
		"none":         {[]string{""}, "image_url is missing"},
		"no base64":    {[]string{"data:image/png;base64,!!"}, "is not valid base64"},
		"percent":      {[]string{"data:image/png,%89PNG"}, "write the image as data:"},
		"no picture":   {[]string{"data:image/png;base64,AA=="}, "models accept JPEG, PNG, GIF and WebP"},
		"a text":       {[]string{"data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte("<svg/>"))}, "models accept JPEG"},
		"too large":    {[]string{large}, "the maximum is 5242880"},
		"too many":     {slices.Repeat([]string{url}, turn.MaxPictures+1), "the maximum is 8"},
		"one of three": {[]string{url, "HTTPS://example.com/a.png", url}, "parley does not fetch URLs"},
	} {
		chat, item := looks("see", x.urls...)
		p := gatewaytest.Talk("parley", "")
		p.Messages = append(p.Messages, chat)
		_, err := c.Chat.Completions.New(t.Context(), p)
		if e := gatewaytest.Refused(t, err); e.StatusCode != http.StatusBadRequest || !strings.Contains(e.Message, x.why) {
			t.Errorf("%s is answered with %d %q", name, e.StatusCode, e.Message)
		}
		_, err = c.Responses.New(t.Context(), responses.ResponseNewParams{Model: "parley", Input: responses.ResponseNewParamsInputUnion{OfInputItemList: []responses.ResponseInputItemUnionParam{item}}})
		if e := gatewaytest.Refused(t, err); e.StatusCode != http.StatusBadRequest || !strings.Contains(e.Message, x.why) {
			t.Errorf("%s in a response is answered with %d %q", name, e.StatusCode, e.Message)
		}
	}
	for name, body := range map[string]string{
		"a picture of the assistant": `{"model":"parley","messages":[{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"` + url + `"}}]},{"role":"user","content":"x"}]}`,
		"a file's id":                `{"model":"parley","messages":[{"role":"user","content":[{"type":"input_image","file_id":"f1"}]}]}`,
		"an address that is a list":  `{"model":"parley","messages":[{"role":"user","content":[{"type":"image_url","image_url":[]}]}]}`,
	} {
		if got := o.Status("POST", "/v1/chat/completions", gatewaytest.AnnsToken, body); got != http.StatusBadRequest {
			t.Errorf("%s is answered with %d", name, got)
		}
	}
	if n := o.Model.Count(); n != 0 {
		t.Errorf("%d turns were begun all the same", n)
	}
}
