package configfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"parley/channels"
)

// EnvName is the file beside the configuration that variables are taken from which the environment has not got.
const EnvName = ".env"

var envLine = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

var notInNames = regexp.MustCompile(`[^A-Z0-9]+`)

// VariableName makes the name of a variable of the parts of a place: discord, biz, token becomes DISCORD_BIZ_TOKEN.
func VariableName(parts ...string) string {
	name := notInNames.ReplaceAllString(strings.ToUpper(strings.Join(parts, "_")), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// ReadEnv reads a file of lines NAME=value: a value may stand in single or double quotes, a line that begins with # says nothing.
// There is no expansion. A file that is not there has no variables; a link to one is an error.
func ReadEnv(path string) (map[string]string, error) {
	data, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, dangling(path, "")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ParseEnv(path, data)
}

// ParseEnv reads the text of such a file.
func ParseEnv(path string, data []byte) (map[string]string, error) {
	out := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := envLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s:%d: the line is not NAME=value", path, i+1) // the line may be a secret
		}
		v, ok := unquoted(m[2])
		if !ok {
			return nil, fmt.Errorf("%s:%d: %s: the value has no closing quote, or text follows the quote", path, i+1, m[1])
		}
		out[m[1]] = v
	}
	return out, nil
}

// EnvLine makes a line of such a file. ok is false for a value that it cannot hold: one of several lines, or with both kinds of quotes.
func EnvLine(name string, value channels.Secret) (line string, ok bool) {
	v, q := value.Reveal(), "'"
	if strings.Contains(v, q) {
		q = `"`
	}
	return name + "=" + q + v + q + "\n", !strings.Contains(v, q) && !strings.ContainsAny(v, "\r\n")
}

// unquoted takes the quotes off a value; without quotes a comment ends it.
func unquoted(v string) (string, bool) {
	if v == "" {
		return "", true
	}
	if q := v[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(v[1:], q)
		if end < 0 {
			return "", false
		}
		rest := strings.TrimSpace(v[end+2:])
		return v[1 : end+1], rest == "" || strings.HasPrefix(rest, "#")
	}
	if i := strings.Index(v, " #"); i >= 0 {
		v = strings.TrimSpace(v[:i])
	}
	return v, true
}

// WithEnvFile gives variables of the environment, and those that it has not got from the file beside a configuration. The file is
// read again at each call: there are few, and it may have changed since the last one.
func WithEnvFile(configPath string, getenv func(string) string) func(string) string {
	if configPath == "" {
		return getenv
	}
	path := filepath.Join(filepath.Dir(configPath), EnvName)
	return func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		if _, err := os.Stat(path); err != nil {
			return ""
		}
		vars, _ := ReadEnv(path) // what is wrong with it is said when the configuration is loaded
		return vars[name]
	}
}
