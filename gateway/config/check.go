package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/route"
)

// mainAgent is the agent that exists when agents.list is empty.
const mainAgent sessions.AgentID = "main"

// completeAgents makes sure that there is at least one agent and that one is the default: the first, unless another says so.
func completeAgents(c *agent.Config) {
	if len(c.List) == 0 {
		c.List = []agent.Entry{{ID: mainAgent}}
	}
	if !slices.ContainsFunc(c.List, func(e agent.Entry) bool { return e.Default }) {
		c.List[0].Default = true
	}
}

// checker looks at what more than one key must agree on. Its paths are those of the file.
type checker struct {
	config  *Config
	decoder *decoder
	root    *yaml.Node
}

func (k *checker) report(s Severity, path, text, hint string) {
	if len(k.decoder.problems) >= maxProblems {
		return
	}
	line, shown := 0, path
	if k.root != nil {
		line, shown = locate(k.root, path)
	}
	k.decoder.report(s, line, shown, text, hint)
}

func (k *checker) wrong(path, text, hint string) { k.report(SevereError, path, text, hint) }

// lacks reports that something is missing in a section, unless a value in it could not be read: that may be it.
func (k *checker) lacks(s Severity, path, text, hint string) {
	if !slices.ContainsFunc(k.decoder.problems, func(p Problem) bool { return strings.HasPrefix(p.Key, path+".") }) {
		k.report(s, path, text, hint)
	}
}

func (k *checker) all() {
	k.gateway()
	k.store()
	k.providers()
	k.agents()
	k.models()
	priceChecker{k}.all()
	k.owners()
	k.routes()
	k.hooks()
	k.workspaces()
	k.timezone()
	k.resets()
	k.tools()
	k.toolSwitches()
	k.mcpServers()
	k.sendPolicy()
	for _, a := range k.decoder.accounts {
		if a.enabled {
			k.adopt(a.path+".", a.Access.Check(), nil)
			k.adapter(a)
		}
	}
	k.sharedSecrets()
}

// joined is what errors.Join makes.
type joined interface {
	error
	Unwrap() []error
}

// adapter has an adapter's own struct say what is wrong with its fields, those left out that are reported already.
func (k *checker) adapter(a configured) {
	v, ok := a.Adapter.(interface{ Validate() error })
	if !ok {
		return
	}
	err := v.Validate()
	all := []error{err}
	if several, ok := errors.AsType[joined](err); ok {
		all = several.Unwrap()
	}
	for _, err := range all {
		field, ok := errors.AsType[*channels.FieldError](err)
		if !ok {
			continue
		}
		path := a.path + "." + field.Field
		if !slices.ContainsFunc(k.decoder.problems, func(p Problem) bool { return p.Severity == SevereError && (p.Key == path || p.Key == a.path) }) {
			k.wrong(path, field.Text, "")
		}
	}
}

// adopt reports what another package's check found, unless its key is reported already. hint may add to it.
func (k *checker) adopt(prefix string, ps []policy.Problem, hint func(path string) string) {
	for _, p := range ps {
		if len(k.decoder.problems) >= maxProblems {
			return
		}
		path, line, s := prefix+p.Path, 0, SevereError
		shown := path
		if k.root != nil {
			line, shown = locate(k.root, path)
		}
		if slices.ContainsFunc(k.decoder.problems, func(o Problem) bool { return o.Key == shown }) {
			continue
		}
		if p.Warning {
			s = Warning
		}
		h := ""
		if hint != nil {
			h = hint(p.Path)
		}
		k.decoder.report(s, line, shown, k.redact(p.Message), h)
	}
}

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// redact takes out of a message what must not be repeated: what variables hold, and what may be a secret in the wrong place.
func (k *checker) redact(message string) string {
	message = quotedText.ReplaceAllStringFunc(message, func(q string) string {
		if s, err := strconv.Unquote(q); err == nil && (s == "" || presentable(s)) {
			return q
		}
		return "this value"
	})
	for _, v := range k.decoder.expanded {
		message = strings.ReplaceAll(message, v, "…")
	}
	return message
}

func (k *checker) store() {
	dsn := k.config.Store.DSN.Reveal()
	if dsn != "" && !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		k.wrong("store.dsn", "is not a database that parley supports", "leave it empty for SQLite in the state folder, or write postgres://user:password@host/database")
	}
}

func (k *checker) providers() {
	for _, name := range sortedKeys(k.config.Models.Providers) {
		p, at := k.config.Models.Providers[name], "models.providers."+name
		if name == "" || strings.ContainsAny(name, "/ \t\n") {
			k.wrong(at, "a provider name cannot be empty or contain / or spaces", "rename the provider; models are named provider/model")
		}
		p.BaseURL = strings.TrimSpace(p.BaseURL)
		if key := agent.CleanKey(p.APIKey.Reveal()); key != p.APIKey.Reveal() {
			p.APIKey = channels.NewSecret(key)
		}
		k.config.Models.Providers[name] = p
		k.provider(at, name, p)
		if p.BaseURL == "" {
			if p.API != "offline" && p.API != "" && p.APIKey.IsZero() && len(p.Headers) == 0 {
				k.lacks(Warning, at, "has no apiKey and no baseUrl, so its server will refuse every call", "set apiKey, or the baseUrl of a server that needs no key")
			}
			continue
		}
		if u, err := url.Parse(p.BaseURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			k.wrong(at+".baseUrl", "must be an http or https URL", "for example http://127.0.0.1:11434/v1")
		}
	}
}

func (k *checker) agents() {
	k.mentions("messages.groupChat.", k.config.Messages.GroupChat.MentionPatterns)
	k.stopWords()
	fallback := -1
	for i, e := range k.config.Agents.List {
		at := fmt.Sprintf("agents.list[%d]", i)
		switch {
		case e.Default && fallback >= 0:
			k.wrong(at+".default", "only one agent can be the default", fmt.Sprintf("remove default here or from agents.list[%d]", fallback))
		case e.Default:
			fallback = i
		}
		k.mentions(at+".groupChat.", e.GroupChat.MentionPatterns)
		for j, other := range e.Subagents.AllowAgents {
			if other != "*" && !slices.Contains(agentIDs(k.config.Agents), other) {
				k.report(Warning, fmt.Sprintf("%s.subagents.allowAgents[%d]", at, j), "there is no agent "+quoted(other), choices("agents", other, agentIDs(k.config.Agents)))
			}
		}
	}
}

func agentIDs(c agent.Config) []string {
	ids := make([]string, len(c.List))
	for i, e := range c.List {
		ids[i] = string(e.ID)
	}
	return ids
}

// choices words a hint: what there is, and what was probably meant.
func choices(what, written string, known []string) string {
	hint := what + ": " + strings.Join(known, ", ")
	if near, ok := closest(written, known); ok {
		hint += fmt.Sprintf("; did you mean %q?", near)
	}
	return hint
}

func quoted(s string) string {
	if presentable(s) {
		return strconv.Quote(s)
	}
	return "of this name"
}

// implied lists the model providers that can be named without configuring them: the one that is built in, and those whose key
// is in the environment.
func implied(getenv func(string) string) []string {
	out := []string{"offline"}
	if getenv("OPENAI_API_KEY") != "" {
		out = append(out, "openai")
	}
	if getenv("ANTHROPIC_API_KEY") != "" {
		out = append(out, "anthropic")
	}
	return out
}

func (k *checker) models() {
	k.unused()
	d := k.config.Agents.Defaults
	k.model("agents.defaults.model", d.Model)
	k.fallbacks("agents.defaults.fallbacks", d.Fallbacks)
	k.model("agents.defaults.subagents.model", d.Subagents.Model)
	k.model("agents.defaults.compaction.model", d.Compaction.Model)
	for i, e := range k.config.Agents.List {
		at := fmt.Sprintf("agents.list[%d]", i)
		k.model(at+".model", e.Model)
		k.fallbacks(at+".fallbacks", e.Fallbacks)
	}
}

// wayToProvider returns a hint for a provider that is not known: the one that was probably meant, else how to add it.
func wayToProvider(name string, known []string) string {
	if _, near := closest(name, known); near {
		return choices("providers", name, known)
	}
	describe := "describe it under models.providers"
	switch name {
	case "openai":
		return "set OPENAI_API_KEY, or " + describe
	case "anthropic":
		return "set ANTHROPIC_API_KEY, or " + describe
	}
	return choices("providers", name, known) + "; set OPENAI_API_KEY or ANTHROPIC_API_KEY, or " + describe
}

// fallbacks checks the models that are asked when another one fails.
func (k *checker) fallbacks(path string, names []string) {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		if name == "" {
			k.wrong(at, "must be provider/model", "remove the empty entry")
		}
		k.model(at, name)
		switch {
		case slices.Contains(names[:i], name):
			k.report(Warning, at, "is listed twice", "parley tries each model once")
		case i == agent.MaxTries-1:
			k.report(Warning, at, "is tried only while an earlier model is paused", fmt.Sprintf("a call makes at most %d requests, including the one to the model itself", agent.MaxTries))
		}
	}
}

func (k *checker) model(path, name string) {
	if name == "" {
		return
	}
	known := append(sortedKeys(k.config.Models.Providers), implied(k.decoder.getenv)...)
	provider, rest, ok := strings.Cut(name, "/")
	switch {
	case !ok || provider == "" || rest == "":
		k.wrong(path, "must be provider/model", "providers: "+strings.Join(known, ", "))
	case !slices.Contains(known, provider):
		k.wrong(path, "there is no model provider "+quoted(provider), wayToProvider(provider, known))
	}
}

// owners checks who is an owner.
func (k *checker) owners() {
	list := k.config.Commands.OwnerAllowFrom
	k.adopt("", policy.Owners(list).Check(k.decoder.table.Kinds()), func(path string) string {
		for i, o := range list {
			kind, _, ok := strings.Cut(o, ":")
			near, found := closest(kind, k.decoder.table.kinds())
			switch at := fmt.Sprintf("commands.ownerAllowFrom[%d]", i); {
			case at != path:
			case !ok:
				return "send /whoami to the bot to see your id"
			case policy.IsGroupID(channels.UserID(strings.TrimPrefix(o, kind+":"))):
				return "use the id of a person; send /whoami to the bot in a direct chat to see yours"
			case found && near != kind:
				return fmt.Sprintf("did you mean %q?", near)
			}
		}
		return ""
	})
	for i, o := range list {
		for _, a := range k.config.Channels {
			if id := a.Bot(); id != "" && strings.EqualFold(o, string(a.Kind)+":"+string(id)) {
				k.report(Warning, fmt.Sprintf("commands.ownerAllowFrom[%d]", i), fmt.Sprintf("%q is the bot itself, which is never an owner", o), "use the id of a person; send /whoami to the bot to see yours")
			}
		}
	}
}

// routes checks agents, bindings and the section session, and that bindings name channels and accounts that there are.
func (k *checker) routes() {
	ids, def := k.config.Agents.IDs()
	r := route.Table{Agents: ids, Default: def, Bindings: k.config.Bindings, Config: k.config.Session, Owners: k.config.Commands.OwnerAllowFrom}
	k.adopt("", r.Check(), func(path string) string {
		for i, b := range k.config.Bindings {
			if path == fmt.Sprintf("bindings[%d].agentId", i) {
				return choices("agents", string(b.AgentID), agentIDs(k.config.Agents))
			}
		}
		return ""
	})
	for i, b := range k.config.Bindings {
		at := fmt.Sprintf("bindings[%d].match.", i)
		kinds := k.decoder.table.kinds()
		if b.Match.Channel != "" && !slices.Contains(kinds, string(b.Match.Channel)) {
			k.report(Warning, at+"channel", "there is no channel "+quoted(string(b.Match.Channel))+", so this binding never matches", choices("channels", string(b.Match.Channel), kinds))
			continue
		}
		if p := b.Match.Peer; p != nil && strings.HasPrefix(p.ID, "@") {
			k.report(Warning, at+"peer.id", k.redact(quotedValue(p.ID)+" is a name; bindings match ids only, so this one never matches"), "use the id; /whoami shows it")
		} else if p != nil {
			k.peerID(at+"peer.id", b.Match.Channel, *p)
		}
		k.bindingAccount(at+"accountId", b.Match)
	}
}

// peerID warns of a peer of a binding that no chat of the channel can be.
func (k *checker) peerID(path string, kind channels.Kind, p sessions.Peer) {
	a, ok := k.decoder.table.find(kind)
	if !ok || p.ID == "" || p.ID == "*" {
		return
	}
	var is string
	var err error
	switch {
	case p.Kind == channels.Direct && a.Person != nil:
		var id channels.UserID
		id, err = a.Person(p.ID)
		is = string(id)
	case p.Kind.Several() && a.Chat != nil:
		var id channels.ChatID
		id, err = a.Chat(p.ID)
		is = string(id)
	default:
		return
	}
	switch {
	case err != nil:
		k.report(Warning, path, k.redact(fmt.Sprintf("no chat on %s has the id %s, so this binding never matches", kind, quotedValue(p.ID))), err.Error())
	case is != p.ID:
		k.report(Warning, path, k.redact(fmt.Sprintf("%s writes the id %s differently, so this binding never matches", kind, quotedValue(p.ID))), "write "+is)
	}
}

// accountsOf gives the accounts of a channel; of all with "".
func (k *checker) accountsOf(kind channels.Kind) (ids []string) {
	for _, a := range k.decoder.accounts {
		if kind == "" || strings.EqualFold(string(a.Kind), string(kind)) {
			ids = append(ids, string(a.ID))
		}
	}
	return ids
}

// sendPolicy checks its rules, and that they name accounts that there are: after an account was renamed they hold for what it was.
func (k *checker) sendPolicy() {
	p := k.config.Session.SendPolicy
	k.adopt("", p.Check(k.decoder.table.Kinds()), nil)
	const gone = ", so this rule matches only a former account of this name"
	for i, r := range p.Rules {
		at := fmt.Sprintf("session.sendPolicy.rules[%d].match.", i)
		if ids, id := k.accountsOf(r.Match.Channel), string(r.Match.AccountID); id != "" && len(ids) > 0 && !slices.Contains(ids, id) {
			k.report(Warning, at+"accountId", "there is no account "+quoted(id)+gone, choices("accounts", id, ids))
		}
		to, err := channels.ParseAddress(r.Match.To)
		if ids, id := k.accountsOf(to.Channel), string(to.Account); err == nil && !to.IsZero() && len(ids) > 0 && !slices.Contains(ids, id) {
			k.report(Warning, at+"to", "there is no account "+quoted(id)+" of "+string(to.Channel)+gone, choices("accounts", id, ids))
		}
	}
}

func (k *checker) bindingAccount(path string, m sessions.BindingMatch) {
	ids := k.accountsOf(m.Channel)
	want := string(cmp.Or(m.AccountID, channels.DefaultAccount))
	switch {
	case m.Channel == "" || want == "*" || slices.Contains(ids, want):
	case len(ids) == 0:
		k.report(Warning, strings.TrimSuffix(path, ".accountId"), "channels."+string(m.Channel)+" is not configured, so this binding never matches", "configure the channel, or remove the binding")
	default:
		k.report(Warning, path, "there is no account "+quoted(want)+", so this binding never matches", choices("accounts", want, ids)+`; "*" matches any`)
	}
}

// sharedSecrets reports two accounts with the same login: the platform would disconnect one for the other, for ever.
func (k *checker) sharedSecrets() {
	type login struct {
		kind channels.Kind
		key  string
		text channels.Secret
	}
	first := map[login]string{}
	for _, a := range k.decoder.accounts {
		if a.Adapter == nil || !a.enabled {
			continue
		}
		v := reflect.ValueOf(a.Adapter).Elem()
		for _, f := range k.decoder.types.Of(v.Type()) {
			s, ok := v.FieldByIndex(f.Index).Interface().(channels.Secret)
			if !ok || !f.Required || s.IsZero() {
				continue
			}
			l := login{a.Kind, f.Key, s}
			if other, twice := first[l]; twice {
				k.wrong(a.path+"."+f.Key, "is also used by "+unwritten(other), "give each account its own login")
			}
			first[l] = a.path
		}
	}
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
