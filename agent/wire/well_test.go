package wire

import (
	"encoding/json"
	"testing"
)

// TestIsError: what says that all is well is no error; what says anything else is one.
// source: xfyun.cn/doc/spark (code 0, message Success)
func TestIsError(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		``: false, `null`: false, `""`: false, `{}`: false, `[]`: false, `false`: false, `0`: false, `200`: false, `"null"`: false, `"OK"`: false, `"0"`: false,
		`{"code":"0","message":"success"}`:          false,
		`{"code":200,"msg":"ok","data":null}`:       false,
		`{"success":true,"errors":[]}`:              false,
		`{"code":0,"message":"Invalid key"}`:        true,
		`{"code":"400","message":"success"}`:        true,
		`{"code":500}`:                              true,
		`{"success":true,"errors":[{"code":7003}]}`: true,
		`true`:                                         true,
		`"ok, but the model failed"`:                   true,
		`{"message":"","type":"server_error"}`:         true,
		`[{"message":"no error could be told apart"}]`: true,
	} {
		if got := IsError(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}
