package wire

import (
	"errors"
	"net/http"
	"testing"

	"parley/agent"
)

// TestBegunIsNoRefusal: an error with the code or the words of a refusal is a broken answer once a part of it was handed over; one about content
// or credit is what it says.
// source: https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/tokenizer_manager.py (Aborted by AbortReq.)
func TestBegunIsNoRefusal(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]agent.ErrorClass{ // before a part, and behind one
		`{"error":{"message":"Aborted by AbortReq.","type":"BadRequestError","code":400}}`:                         {agent.BadRequest, agent.Broken},
		`{"error":{"message":"Bad Request","code":400}}`:                                                           {agent.BadRequest, agent.Broken},
		`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":429}}`:           {agent.NoCredit, agent.NoCredit},
		`{"error":{"message":"The response was filtered","code":"content_filter","type":"invalid_request_error"}}`: {agent.Refused, agent.Refused},
	} {
		for i, spoke := range []bool{false, true} {
			try := &Try{c: New(Config{Name: "p"}), parent: t.Context(), ctx: t.Context(), res: &http.Response{StatusCode: http.StatusOK}}
			if spoke {
				try.Spoke()
			}
			e, ok := errors.AsType[*agent.ModelError](try.StreamError([]byte(raw)))
			if !ok || e.Class != want[i] {
				t.Errorf("%s, handed over: %v: %v", raw, spoke, e)
			}
		}
	}
}
