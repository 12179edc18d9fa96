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

// hideRuns takes the parts of secrets out of a text that have secretRun bytes at least, in any case of letters. Its time is that of reading
// both once: a refusal may be long, and what a request holds may be megabytes.
func hideRuns(s string, secrets []string) string {
	low := lowerASCII(s)
	runs := findRuns(low)
	if len(runs.at) == 0 {
		return s
	}
	for _, secret := range secrets {
		runs.mark(low, lowerASCII(secret))
	}
	var b strings.Builder
	done, end := 0, 0 // what is written, and the end of the run at hand
	for i, known := range runs.known {
		if !known {
			continue
		}
		if i > end || end == 0 {
			b.WriteString(s[done:i] + masked)
		}
		done, end = i+secretRun, i+secretRun
	}
	b.WriteString(s[done:])
	return b.String()
}

// runs are the stretches of secretRun bytes of a text, by a sum that is made of the next one from the one before.
type runs struct {
	at    map[uint64][]int
	seen  [1 << 10]uint64 // a bit for some bits of each sum: most stretches of a secret are not in at
	known []bool          // by where a stretch begins: it is a part of a secret
}

const (
	sumBase = 0x9E3779B97F4A7C15 // any odd number whose bits are mixed
	sumBits = 16                 // of a sum, that stand in seen
)

// sumLast is what the first byte of a stretch adds to its sum.
var sumLast = func() uint64 {
	p := uint64(1)
	for range secretRun - 1 {
		p *= sumBase
	}
	return p
}()

// eachRun gives the sum of each stretch of a text, and where it begins.
func eachRun(s string, yield func(at int, sum uint64)) {
	sum := uint64(0)
	for i := range len(s) {
		sum = sum*sumBase + uint64(s[i]) + 1
		if i+1 < secretRun {
			continue
		}
		first := i + 1 - secretRun
		yield(first, sum)
		sum -= (uint64(s[first]) + 1) * sumLast
	}
}

// findRuns finds the stretches of a text in which there is no space: no secret has one.
func findRuns(text string) *runs {
	r := &runs{at: map[uint64][]int{}, known: make([]bool, len(text))}
	eachRun(text, func(at int, sum uint64) {
		if strings.IndexByte(text[at:at+secretRun], ' ') >= 0 {
			return
		}
		r.at[sum] = append(r.at[sum], at)
		short := sum >> (64 - sumBits)
		r.seen[short/64] |= 1 << (short % 64)
	})
	return r
}

// mark marks the stretches of the text that stand in a secret.
func (r *runs) mark(text, secret string) {
	eachRun(secret, func(from int, sum uint64) {
		short := sum >> (64 - sumBits)
		if r.seen[short/64]&(1<<(short%64)) == 0 {
			return
		}
		for _, at := range r.at[sum] {
			if !r.known[at] && text[at:at+secretRun] == secret[from:from+secretRun] {
				r.known[at] = true
			}
		}
	})
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

// sealedIn gives the opaque texts of a request: a refusal may quote them. The data of pictures and sounds is not opaque.
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
				if k != "data" || v["media_type"] == nil && v["format"] == nil {
					walk(k, x)
				}
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
