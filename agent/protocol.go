package agent

import (
	"net/url"
	"slices"
	"strings"
)

// The protocols that an api of the configuration stands for.
const (
	CompletionsAPI = "openai-completions"
	ResponsesAPI   = "openai-responses"
	AnthropicAPI   = "anthropic"
	OfflineAPI     = "offline"
)

// Protocol returns the protocol that the provider is asked by: CompletionsAPI, ResponsesAPI, AnthropicAPI or OfflineAPI. The api
// openai speaks Responses with OpenAI's own service and with Azure's v1 address, and chat completions with every other address.
func (p Provider) Protocol() string {
	if p.API != "openai" {
		return p.API
	}
	u, err := url.Parse(p.BaseURL)
	switch {
	case p.BaseURL == "":
		return ResponsesAPI
	case err != nil:
		return CompletionsAPI
	}
	host, path := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), strings.TrimRight(u.Path, "/")
	if strings.HasSuffix(path, "/responses") || path == "" && AzureHost(host) {
		return ResponsesAPI
	}
	if host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") || AzureHost(host) && strings.HasSuffix(path, "/openai/v1") {
		return ResponsesAPI
	}
	return CompletionsAPI
}

// AzureHost reports whether a host name is one of Azure's for language models.
func AzureHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, domain := range []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com", ".openai.azure.us", ".cognitiveservices.azure.us", ".openai.azure.cn", ".cognitiveservices.azure.cn"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// Address returns the base URL without its query and fragment, for packages that add a path; "" = the provider's own address. What the
// query says is in Settings.
func (p Provider) Address() string {
	address, _, _ := strings.Cut(p.BaseURL, "#")
	address, _, _ = strings.Cut(address, "?")
	address = strings.TrimRight(address, "/")
	if !strings.HasPrefix(p.API, "openai") {
		return address
	}
	for _, end := range []string{"/responses", "/chat/completions", "/completions"} { // as portals show it
		if cut, ok := strings.CutSuffix(address, end); ok {
			return cut
		}
	}
	if cut, ok := strings.CutSuffix(address, "/v1/models"); ok {
		return cut + "/v1"
	}
	if u, err := url.Parse(address); err == nil && u.Path == "" {
		switch host := strings.ToLower(u.Hostname()); {
		case AzureHost(host):
			return address + "/openai/v1"
		case host == "api.openai.com":
			return address + "/v1"
		}
	}
	return address
}

// CleanKey gives a key without what is around it by mistake: white space and line ends of a file, quotation marks, the word Bearer.
func CleanKey(key string) string {
	trim := func(s string) string { return strings.Trim(s, " \t\r\n\u00a0\u200b\ufeff") }
	key = trim(key)
	for _, mark := range []string{`"`, "'", "`"} {
		if len(key) > 2 && strings.HasPrefix(key, mark) && strings.HasSuffix(key, mark) {
			key = trim(key[1 : len(key)-1])
		}
	}
	if len(key) > 7 && strings.EqualFold(key[:7], "bearer ") {
		key = trim(key[7:])
	}
	return key
}

// addressQuery returns the query of the base URL; of a name that stands there twice the first value.
func (p Provider) addressQuery() map[string]string {
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.RawQuery == "" {
		return nil
	}
	out := map[string]string{}
	for name, values := range u.Query() {
		out[name] = values[0]
	}
	return out
}

// Efforts are the words for how much a model thinks that providers have, lowest first.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// OffOf gives the effort that asks a model not to think, by the levels that the user configured for it, nil = none are: none, or minimal
// where that is the least; "" = nothing is sent, because with any other level the model might think more than when it is told nothing.
func OffOf(levels []string) string {
	for _, off := range Efforts[:2] {
		if levels == nil || slices.Contains(levels, off) {
			return off
		}
	}
	return ""
}
