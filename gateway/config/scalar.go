package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"parley/channels"
	"parley/gateway/config/field"
)

// whole is an id that YAML takes for a number. Its text is kept as written: +49123 stays +49123.
var whole = regexp.MustCompile(`^[+-]?[0-9]+$`)

// curlyQuotes are the quotes that word processors write. No secret contains one.
const curlyQuotes = "“”„‘’‚"

// exampleSecret matches secrets that examples and vendors' documents show.
// source: https://core.telegram.org/bots/api#authorizing-your-bot, https://core.telegram.org/bots/features#botfather
var exampleSecret = regexp.MustCompile(`(?i)^(?:<.*>|\.{3}|…|x{3,}|\*+|change[-_ ]?me|replace[-_ ]?(?:me|this)|(?:my|your)[-_ ].*|(?:\d+:)?abc(?:def)?|` +
	`123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11|110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw|4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qc|` +
	`sk-(?:ant-)?(?:\.{3}|…|x{3,}|your.*))$`)

// secret fills a Secret. Nothing of the value gets into a problem.
func (d *decoder) secret(n *yaml.Node, v reflect.Value, f field.Field, at spot) {
	text, ok := d.text(n, f, at)
	if !ok {
		return
	}
	switch {
	case text == "" && f.Required && !d.lax:
		d.wrong(at, "is empty", strings.TrimSuffix(f.Doc, "."))
	case strings.ContainsAny(text, curlyQuotes):
		d.wrong(at, "contains curly quotes", `use straight quotes: "…"`)
	case exampleSecret.MatchString(text) && !d.lax:
		d.report(Warning, at.line, at.path, "is an example, not a real secret", strings.TrimSuffix(f.Doc, "."))
	}
	v.Set(reflect.ValueOf(channels.NewSecret(text)))
}

// text gives the expanded text of a scalar that is wanted as text.
func (d *decoder) text(n *yaml.Node, f field.Field, at spot) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		d.wrong(at, "must be text, is "+kindOf(n), "")
		return "", false
	}
	switch tag := n.ShortTag(); {
	case tag == "!!str", tag == "!!timestamp", whole.MatchString(n.Value):
	case tag == "!!bool" && slices.Contains(f.Enum, switchWord(n.Value)):
		d.wrong(at, "must be text, is "+kindOf(n), "write "+switchWord(n.Value))
		return "", false
	default:
		d.wrong(at, "must be text, is "+kindOf(n), "quote the value")
		return "", false
	}
	e, ok := d.expand(n, f, at)
	return e.text, ok
}

// switchWord gives the word that a switch has for a truth value.
func switchWord(text string) string {
	if strings.EqualFold(text, "true") {
		return "on"
	}
	return "off"
}

// expand fills in the environment variables of a scalar.
func (d *decoder) expand(n *yaml.Node, f field.Field, at spot) (expansion, bool) {
	e := expand(n.Value, d.getenv)
	if e.broken {
		d.wrong(at, "contains a ${ that does not begin a variable", "write ${NAME} or ${NAME:-default}; $${ stands for a plain ${")
		return e, false
	}
	if e.used && len(e.text) > 3 {
		d.expanded = append(d.expanded, e.text)
	}
	if len(e.missing) == 0 {
		return e, true
	}
	if f.UnsetEmpty || d.lax {
		e.text = ""
		return e, f.UnsetEmpty || f.Type == field.SecretType
	}
	for _, name := range slices.Compact(e.missing) {
		hint := "set " + name + ", or write ${" + name + ":-default}"
		if isSecret(f.Type) { // a default would put the secret into this file
			hint = "set " + name + " in .env beside this file"
		}
		d.wrong(at, "the environment variable "+name+" is not set", hint)
	}
	return e, false
}

// isSecret reports whether a type is a Secret, or a list or map of them.
func isSecret(t reflect.Type) bool {
	for t != nil && (t.Kind() == reflect.Map || t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer) {
		t = t.Elem()
	}
	return t == field.SecretType
}

// scalar fills a text, truth value or number.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, f field.Field, at spot) {
	if v.Kind() == reflect.String {
		if text, ok := d.text(n, f, at); ok {
			d.word(n, text, f, at)
			v.SetString(text)
		}
		return
	}
	want := "true or false"
	switch {
	case v.CanInt():
		want = "a whole number"
	case v.CanFloat():
		want = "a number"
	case v.Kind() != reflect.Bool:
		d.wrong(at, fmt.Sprintf("a %s cannot be configured", v.Type()), "this is a bug in parley; please report it")
		return
	}
	if n.Kind != yaml.ScalarNode {
		d.wrong(at, "must be "+want+", is "+kindOf(n), "")
		return
	}
	e, ok := d.expand(n, f, at)
	if !ok {
		return
	}
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if err := field.SetText(v, e.text); err != nil || quoted && !e.used {
		d.wrong(at, "must be "+want+", is "+shown(n), d.scalarHint(v, quoted && err == nil, e.text))
		return
	}
	if v.Kind() != reflect.Bool {
		d.inRange(n, v, f, at)
	}
}

func (d *decoder) scalarHint(v reflect.Value, unquote bool, text string) string {
	switch {
	case unquote:
		return "remove the quotes"
	case v.Kind() == reflect.Bool && slices.Contains([]string{"yes", "on", "y", "1"}, strings.ToLower(text)):
		return "write true"
	case v.Kind() == reflect.Bool && slices.Contains([]string{"no", "off", "n", "0"}, strings.ToLower(text)):
		return "write false"
	}
	return ""
}

func (d *decoder) inRange(n *yaml.Node, v reflect.Value, f field.Field, at spot) {
	if x := field.Number(v); x >= f.Min && (!f.Bounded || x <= f.Max) {
		return
	}
	limit := "must be at least " + field.FormatNumber(f.Min)
	if f.Bounded {
		limit = "must be between " + field.FormatNumber(f.Min) + " and " + field.FormatNumber(f.Max)
	}
	d.wrong(at, limit+", is "+shown(n), "")
}

// word checks a text against its field.
func (d *decoder) word(n *yaml.Node, text string, f field.Field, at spot) {
	switch {
	case len(f.Enum) > 0 && !slices.Contains(f.Enum, text):
		hint := "use one of: " + strings.Join(f.Enum, ", ")
		if k, ok := closest(text, f.Enum); ok {
			hint += fmt.Sprintf("; did you mean %q?", k)
		}
		d.wrong(at, shown(n)+" is not allowed", hint)
	case text == "" && f.Required && !d.lax:
		d.wrong(at, "is empty", strings.TrimSuffix(f.Doc, "."))
	case f.Pattern != nil && text != "" && !f.Pattern.MatchString(text):
		d.wrong(at, shown(n)+" is not allowed", strings.TrimSuffix(f.Doc, "."))
	}
}

// shown words a value for a problem: as the file has it, never what a variable holds, and only when it cannot be a secret.
func shown(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && (presentable(n.Value) || reference.FindString(n.Value) == n.Value && !strings.Contains(n.Value, ":-") && n.Value != "") {
		return strconv.Quote(n.Value)
	}
	if n.Kind == yaml.ScalarNode && n.Value == "" {
		return "an empty text"
	}
	return "this value"
}
