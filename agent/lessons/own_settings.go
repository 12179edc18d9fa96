package lessons

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// maxValue bounds what a lesson says of a configured field's value, in bytes.
const maxValue = 256

// BodyField gives a field of the user's body as a parameter, and the JSON that is sent for it; nil = it is left out. raw is the user's value.
// Where a secret is in that, lessons know it by its hash.
func (c *Call) BodyField(name string, raw []byte) (Param, []byte) {
	was := wire.Scalar(raw)
	if agent.HasSecret(name, raw) {
		was = hashed + Hash(was)
	}
	was = strings.ToValidUTF8(was[:min(len(was), maxValue)], "")
	use, send := c.Param(name, was)
	p := Param{Name: name, Value: use, Fixed: true, Setting: "body." + name}
	switch {
	case !send:
		p.Value, raw = Unset, nil
	case use == was:
	case json.Valid([]byte(use)):
		raw = []byte(use)
	default:
		raw = wire.Quote(nil, use)
	}
	return p, raw
}

// hashed begins the value of a lesson that stands for a secret one.
const hashed = "secret "

// toldSecret reports whether a lesson that was kept by an older version has a secret of the configuration in it.
func toldSecret(l sessions.Lesson) bool {
	return l.Kind == Parameter && l.Value != Unset && !strings.HasPrefix(l.Value, hashed) && agent.HasSecret(l.Name, []byte(l.Value))
}

// Extras gives the settings of a model that its requests follow besides their bodies: its headers and its query.
func Extras(set agent.ModelSettings) (out []string) {
	if len(set.Headers) == 0 && len(set.Query) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(set.Headers)) {
		if value := set.Headers[name]; !value.IsZero() {
			out = append(out, "headers."+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set.Query)) {
		out = append(out, "query."+name)
	}
	return out
}

// protective is in fields that keep data private, answers safe or calls cheap: only a refusal that names one has it left out.
// source: openrouter.ai/docs/guides/routing/provider-selection (provider.data_collection), ai.google.dev/gemini-api/docs/safety-settings
var protective = pattern.New(`provider|safe|guard|moderat|privacy|personal|retention|\bzdr\b|\bstore\b|\btrain|polic|secur|filter|complian|region|data_collection|"deny"|budget|price|cost|tier|tool_choice`)

// mayBeLeftOut reports whether a setting of the user is left out of a request although no refusal named it.
func (p Param) mayBeLeftOut() bool {
	return p.Setting != "" && p.Fixed && p.Value != Unset && !slices.Contains(limits, p.Name) && !(p.Effort && p.Value == "none") && !protective.MatchString(strings.ToLower(p.Name+" "+p.Value))
}

// leaveSettings leaves out the settings of the user that may be the reason, and reports whether there were some; taken: also those that the
// endpoint took before. What was left out before them did not help, and is no suspect.
// source: TONresistor/teleton-agent#20 (Invalid request data)
func (x unexplained) leaveSettings(taken bool) bool {
	c := x.call
	if _, ok := placeInHistory(x.fault, x.sent); ok { // the refusal is of a message alone
		return false
	}
	own := slices.DeleteFunc(slices.Clone(x.sent.Params), func(p Param) bool {
		was, _ := c.taken.params.of(p.Name)
		return !p.mayBeLeftOut() || !taken && was == p.Value
	})
	if len(own) == 0 {
		return false
	}
	x.leaveOut(own)
	c.changed.blind.changes = slices.Clone(c.changed.blind.changes[len(c.changed.blind.changes)-len(own):])
	return true
}

// leaves notes that a setting of the user is left out.
func (c *Call) leaves(p Param) {
	if p.Setting != "" && !slices.Contains(c.left, p.Setting) {
		c.left = append(c.left, p.Setting)
	}
}

// tellLeft tells owners which of their settings are left out of requests that the endpoint takes now.
func (c *Call) tellLeft(ctx context.Context) {
	if len(c.left) == 0 {
		return
	}
	c.book.conf.Logger.LogAttrs(ctx, slog.LevelWarn, "left settings out of a model's requests", slog.String("model", c.at.Label()),
		slog.String("settings", strings.Join(c.left, ", ")), slog.String("said", c.changed.said),
		slog.String("hint", "The provider accepted the request without "+settingNames(c.left)+". "+c.at.placesOf(c.left)))
	c.left = nil
}

// settingNames lists settings: the setting `temperature`, the settings `temperature` and `body.seed`.
func settingNames(settings []string) string {
	all := "`" + strings.Join(settings, "`, `") + "`"
	if i := strings.LastIndex(all, ", "); i >= 0 {
		return "the settings " + all[:i] + " and" + all[i+1:]
	}
	return "the setting " + all
}

// placesOf says where settings are to be changed: as the paths of the configuration.
func (e Endpoint) placesOf(settings []string) string {
	if len(settings) == 1 {
		return e.placeOf(settings[0])
	}
	provider := "models.providers." + e.Provider
	return "Change them at `" + provider + "`, or at `" + provider + ".models." + e.Model + "` if you set them there."
}

// suspectOwn names the settings of the user, besides those that are on or off, that may be the reason of a refusal which gives none; and those
// without which a request was refused as well.
func (x refusedRequest) suspectOwn() string {
	c := x.call
	tried := append(slices.Clone(c.left), c.vain...)
	var may []string
	for _, p := range x.sent.Params {
		if p.Setting != "" && p.Value != Unset {
			may = append(may, p.Setting)
		}
	}
	may = slices.DeleteFunc(append(may, x.sent.Extras...), func(s string) bool { return slices.Contains(tried, s) })
	slices.Sort(tried)
	out := ""
	if len(may) > 0 {
		list := settingNames(may)
		out = " " + strings.ToUpper(list[:1]) + list[1:] + " of " + c.at.Label() + " may be the reason. " + c.at.placesOf(may)
	}
	if tried = slices.Compact(tried); len(tried) > 0 {
		out += " Without " + settingNames(tried) + " of " + c.at.Label() + " the provider refused the request as well."
	}
	return out
}

// leaves notes the setting of the user that a lesson leaves out.
func (x refusedRequest) leaves(l sessions.Lesson) {
	for _, p := range x.sent.Params {
		if l.Kind == Parameter && l.Use == "" && p.Value != Unset && (p.Name == l.Name || strings.HasPrefix(p.Name, l.Name+".")) {
			x.call.leaves(p)
		}
	}
}
