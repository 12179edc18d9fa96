package models

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ollamaPort is where Ollama listens unless it is told otherwise.
const ollamaPort = "11434"

// OllamaAddress returns the base URL of the OpenAI protocol of the Ollama that OLLAMA_HOST names, in all the forms that Ollama's own
// programs read: with and without scheme, port and path, the port alone, and addresses to listen on (0.0.0.0, [::]), which are this
// machine.
func OllamaAddress(host string) string {
	host = strings.TrimSpace(strings.Trim(strings.TrimSpace(host), `"'`))
	scheme, rest, ok := strings.Cut(host, "://")
	port := ollamaPort
	switch {
	case !ok:
		scheme, rest = "http", host
	case scheme == "https":
		port = "443"
	default:
		scheme, port = "http", "80"
	}
	rest, path, _ := strings.Cut(rest, "/")
	user := ""
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		user, rest = rest[:i+1], rest[i+1:]
	}
	name := rest
	if h, p, err := net.SplitHostPort(rest); err == nil {
		name = h
		if n, err := strconv.Atoi(p); err == nil && n > 0 && n < 1<<16 {
			port = p
		}
	}
	name = strings.Trim(name, "[]")
	switch ip, err := netip.ParseAddr(name); {
	case name == "":
		name = "127.0.0.1"
	case err == nil && ip.IsUnspecified() && ip.Is4():
		name = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		name = "::1"
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), "v1")
	if path = strings.Trim(path, "/"); path != "" {
		path = "/" + path
	}
	authority := net.JoinHostPort(name, port)
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		if authority = name; strings.Contains(name, ":") {
			authority = "[" + name + "]"
		}
	}
	return scheme + "://" + user + authority + path + "/v1"
}

// numCtx is the line of a Modelfile that sets the window.
var numCtx = regexp.MustCompile(`(?m)^\s*(?:PARAMETER\s+)?num_ctx\s+"?(\d+)"?\s*$`)

// ollama fills in what Ollama says about a model: its abilities, and the window that it has been loaded with, else the one that its
// Modelfile sets. Ollama's own default is known to the server only; Window is then 0 and Trained what the model could take.
func (c call) ollama(ctx context.Context, root, model string, x *Answer) {
	if v, err := c.do(ctx, http.MethodPost, root+"/api/show", map[string]string{"model": model, "name": model}); err == nil {
		m, _ := v.(map[string]any)
		x.Model.show(m)
		if x.Model.Name == "" {
			x.Model.Name = model
		}
	}
	v, err := c.get(ctx, root+"/api/ps")
	if err != nil {
		return
	}
	m, _ := v.(map[string]any)
	list, _ := m["models"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		d := doc(m)
		if names := []string{d.text("name"), d.text("model")}; !slices.Contains(names, model) && !slices.Contains(names, model+":latest") {
			continue
		}
		if n := d.count("context_length"); n > 0 {
			x.Model.Window, x.Loaded = n, true
		}
	}
}

// show reads Ollama's /api/show.
func (s *Served) show(d doc) {
	if caps := words(d.at("capabilities")); len(caps) > 0 {
		images, tools := has(caps, "vision"), has(caps, "tools")
		s.Images, s.Tools = &images, &tools
		s.chat(caps)
		if !has(caps, "thinking") {
			s.Levels = []string{}
		}
	}
	info, _ := d.at("model_info").(map[string]any)
	if arch, _ := info["general.architecture"].(string); arch != "" {
		s.Trained = doc(info).count(arch + ".context_length")
	}
	for k := range info {
		if s.Trained == 0 && strings.HasSuffix(k, ".context_length") {
			s.Trained = doc(info).count(k)
		}
	}
	for _, text := range []string{d.text("parameters"), d.text("modelfile")} {
		if m := numCtx.FindStringSubmatch(text); m != nil && s.Window == 0 {
			s.Window, _ = strconv.Atoi(m[1]) // digits; 0 where there are too many
		}
	}
	if s.Window == 0 {
		s.Window = d.count("parameters", "num_ctx")
	}
	s.numCtx = s.Window > 0
	if s.Trained > 0 {
		s.Window = min(s.Window, s.Trained)
	}
	if d.text("remote_host") != "" || d.text("remote_model") != "" { // a model of Ollama's cloud has its whole window
		s.Window = s.Trained
	}
}

// OllamaWindow is the command that starts Ollama with a window of so many tokens.
func OllamaWindow(tokens int) string {
	return fmt.Sprintf("OLLAMA_CONTEXT_LENGTH=%d ollama serve", tokens)
}
