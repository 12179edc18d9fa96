package lessons

import (
	"encoding/json"
	"errors"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestWordsOfOnePicture: errors about one picture take away that one only, whatever their words.
func TestWordsOfOnePicture(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		text   string
	}{
		// source: help.aliyun.com/zh/model-studio/error-code (InvalidParameter.DataInspection and image sizes)
		{400, "<400> InternalError.Algo.InvalidParameter: The image length and width do not meet the model restrictions. [height:1 or width:1 must be larger than 10]"},
		{400, "Image could not be loaded: cannot identify image file <_io.BytesIO object at 0x7f>"}, // source: docs.mistral.ai, code 3310
		{400, "图片输入格式/解析错误"},                    // source: docs.bigmodel.cn, code 1210
		{400, "image media type not supported"}, // source: github/copilot-cli#2391
		{400, "The image you provided is too small. Minimum is 14x14"},
		{400, "messages.2.content.1.image.source: images must have less than 8000 px on each side"}, // source: platform.claude.com/docs/en/build-with-claude/vision
		{400, "Unsupported image: animated GIF is not supported"},
		{400, "Invalid 'messages[5].content[1].image_url.url': file type is not supported"},
		{413, "image too large: 12000x9000 exceeds 33177600 pixels"},
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": c.text}})
		if err != nil {
			t.Fatal(err)
		}
		call := NewBook(Config{}).Call(at, "")
		if !call.Refused(t.Context(), refusal(c.status, string(body)), Sent{Tools: []string{"look"}, Pictures: []string{"YQ==", "Yg=="}}) {
			t.Errorf("%s: nothing is changed", c.text)
		}
		if call.Off(Images, "") || call.Off(Images, Hash("YQ==")) || !call.Off(Images, Hash("Yg==")) {
			t.Errorf("%s: learned %+v", c.text, call.changed.pending)
		}
	}
}

// TestTookAnother: an endpoint that took a picture before is not one without pictures.
func TestTookAnother(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	picture := func(data string) []sessions.Message {
		return []sessions.Message{{Content: []sessions.Block{{Type: sessions.ImageBlock, Data: data}}}}
	}
	first := b.Call(at, "")
	first.Picture("", picture("YQ=="))(picture("YQ==")[0].Content[0])
	first.Worked(t.Context())
	second := b.Call(at, "")
	second.Picture("", picture("Yg=="))
	if !second.Refused(t.Context(), refusal(400, `{"error":"This image is not supported"}`), Sent{Pictures: []string{"YQ==", "Yg=="}}) || second.Off(Images, "") || !second.Off(Images, Hash("Yg==")) {
		t.Errorf("learned %+v", second.changed.pending)
	}
}

// TestVagueAboutPictures: a model without pictures that refuses each of them without a word is known as one after some of them.
func TestVagueAboutPictures(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	var refused []int
	for _, data := range []string{"MQ==", "Mg==", "Mw==", "NA==", "NQ=="} {
		call, n := b.Call(at, ""), 0
		msgs := []sessions.Message{{Content: []sessions.Block{{Type: sessions.ImageBlock, Data: data}}}}
		for shown := true; shown; {
			show := call.Picture("", msgs)
			if shown = show == nil || show(msgs[0].Content[0]); !shown {
				break
			}
			if n++; n > 4 || !call.Refused(t.Context(), refusal(400, `{"error":"Bad Request"}`), Sent{Pictures: []string{data}}) {
				t.Fatalf("%s: %d refused", data, n)
			}
		}
		call.Worked(t.Context())
		refused = append(refused, n)
	}
	if call := b.Call(at, ""); !call.Off(Images, "") || refused[4] != 0 {
		t.Errorf("%v refused; known %+v", refused, b.Known())
	}
}

// TestFailsWithHistory: a server that fails whenever the history has calls is asked without them by the last try of a call; the call after
// that shows that they were the reason.
func TestFailsWithHistory(t *testing.T) {
	t.Parallel()
	for _, failure := range []struct {
		status int
		text   string
	}{
		{500, "TypeError: Can only get item pairs from a mapping."},            // source: mudler/LocalAI#10256
		{500, "Value is not callable: null at row 62, column 114"},             // source: ggml-org/llama.cpp#27025
		{400, "Failed to parse tool call arguments as JSON"},                   // source: ggml-org/llama.cpp#27025
		{500, "unexpected tokens remaining in message header: Some(\"to=x\")"}, // source: github.com/openai/harmony
		{500, "Internal Server Error"},
	} {
		b := NewBook(Config{})
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": failure.text, "code": failure.status}})
		if err != nil {
			t.Fatal(err)
		}
		var tries []int // failed ones of each call
		for range 3 {
			call, n := b.Call(at, ""), 0
			for !call.Told() && call.ToldUntil().IsZero() {
				failed := refusal(failure.status, string(body))
				if e, ok := errors.AsType[*agent.ModelError](failed); ok {
					e.Class = agent.Overloaded
				}
				if n++; n > 3 {
					t.Fatalf("%s: the history stays", failure.text)
				}
				call.Refused(t.Context(), failed, Sent{Tools: []string{"look"}, Steps: true})
			}
			call.Worked(t.Context())
			tries = append(tries, n)
		}
		if tries[0] != 2 || tries[1] != 1 || tries[2] != 0 {
			t.Errorf("%s: %v tries failed; known %+v", failure.text, tries, b.Known())
		}
		for _, l := range b.Known() {
			if l.Kind != History {
				t.Errorf("%s: learned %+v", failure.text, l)
			}
		}
	}
}

// TestFailsOnce: a server that fails once teaches nothing.
func TestFailsOnce(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Internal Server Error", `unexpected tokens remaining in message header: Some(\"to=functions.x\")`, "schema validation of the model's function call failed"} {
		b := NewBook(Config{})
		call := b.Call(at, "")
		failed := refusal(500, `{"error":{"message":"`+text+`"}}`)
		if call.Refused(t.Context(), failed, Sent{Tools: []string{"look"}, Pictures: []string{"YQ=="}, Steps: true}) || call.Told() || call.Off(Images, Hash("YQ==")) {
			t.Errorf("%s: changed", text)
		}
		if call.Worked(t.Context()); len(b.Known()) > 0 || len(call.suspects.changes) > 0 {
			t.Errorf("%s: learned %+v", text, b.Known())
		}
	}
}

// TestWantsMore: errors that want tools or thinking beside the calls of the history take neither away.
func TestWantsMore(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// source: BerriAI/litellm (litellm/llms/bedrock), UnsupportedParamsError
		"litellm.UnsupportedParamsError: Bedrock doesn't support tool calling without `tools=` param specified. Pass `tools=` param OR set `litellm.modify_params = True`",
		"The toolConfig field must be defined when using toolUse and toolResult content blocks.", // source: docs.aws.amazon.com/bedrock
		// source: platform.claude.com/docs/en/build-with-claude/extended-thinking
		"messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
	} {
		call := NewBook(Config{}).Call(at, "")
		sent := Sent{Params: []Param{{Name: "thinking", Value: "adaptive"}}, Tools: []string{"look"}, Steps: true}
		if !call.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), sent) || call.ToldUntil().IsZero() || call.Off(Tools, "") || call.Use(Reasoning) != "" {
			t.Errorf("%s: learned %+v", text, call.changed.pending)
		}
	}
}
