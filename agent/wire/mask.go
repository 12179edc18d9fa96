package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"parley/channels"
	"parley/channels/pattern"
)

// secretRun is how many bytes of a secret in a row are taken out of a text: servers show a part of a key that they refuse.
const secretRun = 12

const masked = "[secret]"

// hideRuns takes the parts of secrets out of a text that have secretRun bytes at least, in any case of letters.
func hideRuns(s string, secrets []string) string {
	if len(secrets) == 0 {
		return s
	}
	folded := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		if len(secret) >= secretRun {
			folded = append(folded, lowerASCII(secret))
		}
	}
	low := lowerASCII(s)
	var b strings.Builder
	done, end := 0, 0 // what is written, and the end of the run at hand
	for i := 0; i+secretRun <= len(low); i++ {
		window := low[i : i+secretRun]
		if space := strings.LastIndexByte(window, ' '); space >= 0 {
			i += space
			continue
		}
		for _, secret := range folded {
			if !strings.Contains(secret, window) {
				continue
			}
			if i > end || end == 0 {
				b.WriteString(s[done:i] + masked)
			}
			done, end = i+secretRun, i+secretRun
			break
		}
	}
	b.WriteString(s[done:])
	return b.String()
}

// lowerASCII is strings.ToLower for letters of one byte: places in a text stay the same.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// sealedKey is how the fields of a request are named that hold what only its provider can read.
//
// source: ai.google.dev/gemini-api/docs/thought-signatures, platform.claude.com/docs/en/build-with-claude/extended-thinking,
// openrouter.ai/docs/use-cases/reasoning-tokens, platform.openai.com/docs/api-reference/responses
var sealedKey = pattern.New(`(?i)signature$|^encrypted|^data$`)

// sealedIn gives the opaque texts of a request: a refusal may quote them.
func sealedIn(req *http.Request) (out []string) {
	if req == nil || req.GetBody == nil {
		return nil
	}
	rc, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = rc.Close() }() // it is in memory
	var v any
	raw, err := io.ReadAll(rc)
	if err != nil || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case string:
			if sealedKey.MatchString(key) {
				out = append(out, v)
			}
		case []any:
			for _, x := range v {
				walk(key, x)
			}
		case map[string]any:
			for k, x := range v {
				walk(k, x)
			}
		}
	}
	walk("", v)
	return out
}

// reveal gives the texts of secrets.
func reveal(secrets []channels.Secret) (out []string) {
	for _, s := range secrets {
		out = append(out, s.Reveal())
	}
	return out
}
