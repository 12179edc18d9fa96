package source

import (
	"encoding/json"
	"regexp"
	"strings"
)

func marshal(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return []byte(b.String()), err
}

var name = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// reading fills in variables as OpenClaw does, character by character; unknown ones stay as they are.
func reading(s string, vars map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		for _, escaped := range []bool{true, false} {
			open := map[bool]string{true: "$${", false: "${"}[escaped]
			end := strings.IndexByte(s[i:], '}')
			if !strings.HasPrefix(s[i:], open) || end < 0 || !name.MatchString(s[i+len(open):i+end]) {
				continue
			}
			n := s[i+len(open) : i+end]
			if v, ok := vars[n]; ok && v != "" && !escaped {
				b.WriteString(v)
			} else {
				b.WriteString("${" + n + "}")
			}
			i += end + 1
			goto next
		}
		b.WriteByte(s[i])
		i++
	next:
	}
	return b.String()
}

var ours = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// parley fills in variables as parley's configuration does; unknown ones stay as they are.
func parley(s string, vars map[string]string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			return b.String() + s
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		m := ours.FindStringSubmatch(s[i:])
		if m == nil {
			return "broken: " + s[i:]
		}
		if v := vars[m[1]]; v != "" {
			b.WriteString(v)
		} else {
			b.WriteString(m[0])
		}
		s = s[i+len(m[0]):]
	}
}
