package wizard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/policy"
)

// Dialog asks a person.
type Dialog struct {
	In        *Input
	Out       io.Writer
	Hidden    func(ask func()) (string, error) // hides what is typed, calls ask, and reads a line; nil = as any other
	Adapters  []accounts.Adapter
	Providers []models.Provider
	Getenv    func(string) string
	APIURLs   map[channels.Kind]string // instead of the platforms' own
	InFile    func(name string) bool   // Getenv has the variable from the file .env that stays; nil = never
	Inline    bool                     // secrets go into the configuration without a question
}

// ErrEnded ends a dialog whose input ended.
var ErrEnded = errors.New("input ended before all questions were answered; nothing was written")

// checkTimeout bounds the question to a platform whether a token is right.
const checkTimeout = 10 * time.Second

func (d Dialog) say(format string, a ...any) { _, _ = fmt.Fprintf(d.Out, format, a...) }

// Line asks for one line; def is the answer to an empty one.
func (d Dialog) Line(question, def string) (string, error) {
	if def != "" {
		question += " [" + def + "]"
	}
	d.say("%s: ", question)
	text, err := d.typed()
	if err != nil {
		d.say("\n")
	}
	return cmp.Or(text, def), err
}

// typed returns the next line.
func (d Dialog) typed() (string, error) {
	text, err := d.In.next()
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		return "", ErrEnded
	}
	return strings.TrimSpace(text), nil
}

// secret asks for something that is not to be seen.
func (d Dialog) secret(question string) (channels.Secret, error) {
	if d.Hidden == nil {
		s, err := d.Line(question, "")
		return channels.NewSecret(s), err
	}
	s, err := d.Hidden(func() { d.say("%s; input is hidden: ", question) })
	d.say("\n")
	if err != nil {
		return channels.Secret{}, ErrEnded
	}
	return channels.NewSecret(strings.TrimSpace(s)), nil
}

// Yes asks a question that is answered with yes or no.
func (d Dialog) Yes(question string, def bool) (bool, error) {
	hint := "y/N"
	if def {
		hint = "Y/n"
	}
	for {
		s, err := d.Line(question+" ("+hint+")", "")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(s) {
		case "":
			return def, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		d.say("  Type yes or no.\n")
	}
}

// Ask asks for everything that a does not answer yet.
func (d Dialog) Ask(ctx context.Context, a Answers) (Answers, error) {
	var err error
	if a.Agent == "" {
		if a.Agent, err = d.Line("What is your agent called?", "Parley"); err != nil {
			return a, err
		}
	}
	if a.Model.Name == "" && !a.Model.None {
		if err := d.model(ctx, &a); err != nil {
			return a, err
		}
	}
	for _, row := range d.Adapters {
		if row.Platform == nil || slices.ContainsFunc(a.Channels, func(c Channel) bool { return c.Kind == row.Kind }) {
			continue
		}
		if err := d.channel(ctx, &a, row); err != nil {
			return a, err
		}
	}
	if err := d.owners(ctx, &a); err != nil {
		return a, err
	}
	if !a.secrets() || d.Inline {
		return a, nil
	}
	a.Env, err = d.Yes("Keep the secrets in a file .env beside the configuration?", true)
	return a, err
}

func (a Answers) secrets() bool {
	return a.Model.secret() || slices.ContainsFunc(a.Channels, func(c Channel) bool { return !c.Token.IsZero() })
}

// channel asks about one platform: for its token, or whether it will be linked later.
func (d Dialog) channel(ctx context.Context, a *Answers, row accounts.Adapter) error {
	about, hasToken := tokenField(row)
	if !hasToken {
		yes, err := d.Yes(fmt.Sprintf("Connect %s? (you link the account with a phone later)", row.Kind), false)
		if yes {
			a.Channels = append(a.Channels, Channel{Kind: row.Kind})
		}
		return err
	}
	d.say("%s: %s\n", row.Kind, about)
	for {
		token, err := d.secret(fmt.Sprintf("  Token for %s; press Enter to skip", row.Kind))
		if err != nil {
			return err
		}
		if token.IsZero() {
			return nil
		}
		c := Channel{Kind: row.Kind, Token: token, APIURL: d.APIURLs[row.Kind]}
		name, err := d.Check(ctx, c)
		switch {
		case err == nil:
			d.say("  The token of %s works.\n", name)
			c.Name = name
		case Wrong(err):
			d.say("  %s\n", d.TokenProblem(c, err))
			continue
		default:
			d.say("  %s\n", d.TokenProblem(c, err))
			keep, err := d.Yes("  Use the token anyway?", true)
			if err != nil {
				return err
			}
			if !keep {
				continue
			}
		}
		a.Channels = append(a.Channels, c)
		return nil
	}
}

// TokenProblem says what an error of Check means for the token, in a sentence.
func (d Dialog) TokenProblem(c Channel, err error) string {
	if invalid, ok := errors.AsType[*config.Invalid](err); ok && len(invalid.Problems) > 0 {
		return fmt.Sprintf("This is not a token of %s: it %s.", c.Kind, invalid.Problems[0].Text)
	}
	if Wrong(err) {
		return fmt.Sprintf("The platform %s rejected the token: the token is wrong, or a newer one replaced it.", c.Kind)
	}
	return fmt.Sprintf("Could not check the token: %s.", cause(err, d.platform(c)))
}

// platform gives the address of the server that a channel's token belongs to.
func (d Dialog) platform(c Channel) string {
	if c.APIURL != "" {
		return c.APIURL
	}
	if row, account, err := d.account(c); err == nil && row.Platform != nil {
		return row.Platform(account)
	}
	return string(c.Kind)
}

// tokenField finds the token of a channel's configuration, and what is said about it there.
func tokenField(row accounts.Adapter) (about string, ok bool) {
	if row.New == nil {
		return "", false
	}
	t := reflect.TypeOf(row.New()).Elem()
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") == "token" {
			return f.Tag.Get("doc"), true
		}
	}
	return "", false
}

// HasToken reports whether the accounts of a channel have a token.
func HasToken(row accounts.Adapter) bool {
	_, ok := tokenField(row)
	return ok
}

// BadURL says what is wrong with the address of a channel's server; "" = nothing.
func (d Dialog) BadURL(kind channels.Kind) string {
	_, _, err := d.account(Channel{Kind: kind, APIURL: d.APIURLs[kind]})
	if invalid, ok := errors.AsType[*config.Invalid](err); ok {
		for _, p := range invalid.Problems {
			if strings.HasSuffix(p.Key, ".apiUrl") {
				return p.Text
			}
		}
	}
	return ""
}

// Wrong reports whether an error of Check says that the token is none, rather than that it could not be found out.
func Wrong(err error) bool {
	_, invalid := errors.AsType[*config.Invalid](err)
	return invalid || channels.Classify(err).Class == channels.Unauthorized
}

// account makes what the configuration says of a channel.
func (d Dialog) account(c Channel) (row accounts.Adapter, a config.Account, err error) {
	text, _ := Answers{Channels: []Channel{c}}.Files()
	conf, _, err := config.Parse("token", text, accounts.Table(d.Adapters), d.Getenv)
	if err != nil {
		return row, a, err
	}
	i := slices.IndexFunc(conf.Channels, func(a config.Account) bool { return a.Kind == c.Kind })
	j := slices.IndexFunc(d.Adapters, func(r accounts.Adapter) bool { return r.Kind == c.Kind })
	if i < 0 || j < 0 {
		return row, a, fmt.Errorf("there is no channel %q", c.Kind)
	}
	return d.Adapters[j], conf.Channels[i], nil
}

// open makes the account of a channel, which is not connected yet.
func (d Dialog) open(c Channel) (channels.Channel, error) {
	row, a, err := d.account(c)
	if err != nil {
		return nil, err
	}
	return row.Open(a, accounts.Env{Log: slog.New(slog.DiscardHandler)})
}

// Check asks a platform whose token it is.
func (d Dialog) Check(ctx context.Context, c Channel) (name string, err error) {
	ch, err := d.open(c)
	if err != nil {
		return "", err
	}
	who := channels.Probe(ch).Identifier
	if who == nil {
		return "", errors.New("parley cannot test a token of this platform")
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return who.Identify(ctx)
}

// Owner returns channel:id for the id of a person as its platform writes it. The error says what a right id looks like. c is the channel whose bot
// it must not be; zero = not known.
func (d Dialog) Owner(c Channel, row accounts.Adapter, id string) (string, error) {
	if row.Person != nil {
		p, err := row.Person(id)
		if err != nil {
			return "", err
		}
		id = string(p)
	}
	if policy.IsGroupID(channels.UserID(id)) {
		return "", errors.New("this is the id of a group; use the id of a person: send /whoami to the bot in a direct chat to see yours")
	}
	if _, a, err := d.account(c); err == nil && id == string(a.Bot()) {
		return "", errors.New("this is the id of the bot itself; use the id of a person: send /whoami to the bot to see yours")
	}
	return string(row.Kind) + ":" + id, nil
}

// Detect looks for a model that is there already: a key in the environment, an Ollama. wanted is the model that is meant, as
// provider/model, where there are several. ok is false when there is none.
func (d Dialog) Detect(ctx context.Context, wanted string) (m Model, why string, ok bool) {
	c := config.Default(nil, d.Getenv)
	choose := func(model string) models.Choice {
		return models.Choose(ctx, model, c.Models.Providers, d.Providers, d.Getenv)
	}
	chosen := choose(c.Agents.Defaults.Model)
	provider, _, _ := strings.Cut(wanted, "/")
	if _, there := chosen.Providers[provider]; there && provider != wanted {
		chosen = choose(wanted)
	}
	if chosen.Offline() {
		return m, chosen.Why, false
	}
	provider, _, _ = strings.Cut(chosen.Model, "/")
	p := chosen.Providers[provider]
	m = Model{Name: chosen.Model, API: p.API, BaseURL: p.BaseURL, Key: p.APIKey}
	if name := variable(provider) + "_API_KEY"; !p.APIKey.IsZero() && d.Getenv(name) == p.APIKey.Reveal() {
		m.Key, m.Var = channels.Secret{}, name
	}
	return m, chosen.Why, true
}
