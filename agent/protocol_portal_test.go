package agent

import "testing"

// TestPortalAddresses: an address that a portal shows as the target of requests is the one below which they go.
// source: learn.microsoft.com/azure/ai-foundry/openai/how-to/responses (Target URI), platform.openai.com/docs/api-reference
func TestPortalAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"https://n.openai.azure.com/openai/responses?api-version=2025-04-01-preview": {"https://n.openai.azure.com/openai", ResponsesAPI},
		"https://n.openai.azure.com/openai/v1/responses":                             {"https://n.openai.azure.com/openai/v1", ResponsesAPI},
		"https://n.openai.azure.com/":                                                {"https://n.openai.azure.com/openai/v1", ResponsesAPI},
		"https://n.services.ai.azure.com/models":                                     {"https://n.services.ai.azure.com/models", CompletionsAPI},
		"https://api.openai.com":                                                     {"https://api.openai.com/v1", ResponsesAPI},
		"http://h/v1/models":                                                         {"http://h/v1", CompletionsAPI},
		"http://h/v1/chat/completions":                                               {"http://h/v1", CompletionsAPI},
		"http://h/v1/completions":                                                    {"http://h/v1", CompletionsAPI},
		"http://h/v1/responses/":                                                     {"http://h/v1", ResponsesAPI},
		"http://h":                                                                   {"http://h", CompletionsAPI},
	} {
		p := Provider{API: "openai", BaseURL: address}
		if got := [2]string{p.Address(), p.Protocol()}; got != want {
			t.Errorf("%s: %s, not %s", address, got, want)
		}
	}
}

// TestCleanKey: what stands around a key by mistake is no part of it.
// source: kubernetes.io/docs/concepts/configuration/secret (a line end in a file is a part of the value)
func TestCleanKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"sk-1", "sk-1\n", " sk-1\r\n", "Bearer sk-1", "bearer  sk-1 ", `"sk-1"`, "'sk-1'\n", "\ufeffsk-1\u200b"} {
		if got := CleanKey(key); got != "sk-1" {
			t.Errorf("%q: %q", key, got)
		}
	}
}
