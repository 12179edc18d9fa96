package agent

import (
	"testing"

	"parley/tools"
)

// TestToolName: names of tools are known with what models and servers put around them. source: vllm-project/vllm#32587,
// MoonshotAI/Kimi-K2 docs/tool_call_guidance.md, github.com/openai/harmony, zai-org/GLM-4.5 (tool parsers)
func TestToolName(t *testing.T) {
	t.Parallel()
	r := &turnRun{offered: offered{tools: map[string]tools.Tool{"files": nil, "agents_list": nil, "a_b": nil, "A_B": nil}, specs: []tools.Spec{{Name: "files"}, {Name: "agents_list"}, {Name: "a_b"}, {Name: "A_B"}}}}
	for name, want := range map[string]string{
		"files": "files", " files\n": "files", "functions.files": "files", "default_api:files": "files", "functions.files:0": "files", "files:12": "files",
		"files</think>": "files", "files</arg_key>": "files", "files<|channel|>commentary": "files", "assistant<|channel|>commentary to=functions.files": "files",
		`"files"`: "files", "files()": "files", "Files": "files", "agents-list": "agents_list", "Agents_List": "agents_list",
		"other": "other", "a-b": "a-b", "": "", "filesystem": "filesystem",
	} {
		if got, _ := r.toolName(name); got != want {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
}
