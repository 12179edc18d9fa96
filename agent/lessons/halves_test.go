package lessons

import (
	"fmt"
	"slices"
	"testing"

	"parley/tools"
)

// TestUnnamedSchema: where one schema is refused and no tool is named, half of the tools are left out until it is taken; not all of them.
// source: docs.vllm.ai/en/latest/features/structured_outputs.html (xgrammar), ai.google.dev/gemini-api/docs/structured-output
func TestUnnamedSchema(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"The provided JSON schema contains features not supported by xgrammar.",
		"The specified schema produces a constraint that has too many states for serving. Typical causes of this error are schemas with lots of text.",
		"Object fields require at least one of: 'properties' or 'anyOf' with a list of possible properties.", // source: aj47/SpeakMCP#352
	} {
		for bad := range 16 {
			b := NewBook(Config{})
			specs := make([]tools.Spec, 16)
			for i := range specs {
				specs[i].Name = fmt.Sprint("tool_", i)
			}
			for round, most := range []int{6, min(1, max(0, 1-bad))} { // without its only tool, an endpoint is asked once more
				call, refused := b.Call(at, ""), 0
				for {
					sent := Sent{Loose: !call.Off(Schema, "")}
					if call.Takes(Tools, "") {
						for _, s := range call.Offer(specs) {
							sent.Tools = append(sent.Tools, s.Name)
						}
					}
					if !slices.Contains(sent.Tools, fmt.Sprint("tool_", bad)) {
						if bad > 0 && len(sent.Tools) == 0 {
							t.Errorf("%s: tool %d costs all of them", said, bad)
						}
						break
					}
					if refused++; refused > 9 || !call.Refused(t.Context(), refusal(400, `{"error":{"message":"`+said+`"}}`), sent) {
						t.Fatalf("%s: tool %d: dead after %d", said, bad, refused)
					}
				}
				if call.Worked(t.Context()); refused > most {
					t.Errorf("%s: tool %d: %d refused in call %d", said, bad, refused, round)
				}
			}
		}
	}
}
