package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

const (
	webhookEvery       = time.Minute // between looks at the webhook
	webhookStale       = 150 * time.Second
	webhookErrors      = 5 * time.Minute // what Telegram met counts for so long: it tries again 1 to 2 minutes apart
	webhookConnections = 40
)

// Webhook makes Telegram deliver updates by HTTPS instead of being asked for them.
type Webhook struct {
	URL    string          `yaml:"url" json:"url" doc:"URL to which Telegram delivers updates: the public https address of this host's /channels/telegram/<account>/hook. Empty = the host polls Telegram, which needs no public address."`
	Secret channels.Secret `yaml:"secret" json:"secret" doc:"Secret that Telegram sends with every update, so that no other program can deliver updates: 1 to 256 characters of A-Z, a-z, 0-9, _ and -. Required with url."`
}

var secretPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// validate reports what is wrong.
func (w Webhook) validate(add func(field, format string, a ...any)) {
	secret := w.Secret.Reveal()
	if w.URL == "" {
		if secret != "" {
			add("webhook.url", "is missing: set url, or remove secret")
		}
		return
	}
	if u, err := url.Parse(w.URL); err != nil || u.Host == "" || u.Scheme != "https" || u.User != nil || u.Fragment != "" {
		add("webhook.url", "want an address like https://parley.example.org/channels/telegram/default/hook: https, without user or fragment")
	}
	switch {
	case secret == "":
		add("webhook.secret", "is missing: without a secret, any program could deliver updates; create one with `openssl rand -hex 32`")
	case !secretPattern.MatchString(secret):
		add("webhook.secret", "want 1 to 256 characters of A-Z, a-z, 0-9, _ and -")
	}
}

// webhookInfo is what Telegram says about the webhook.
type webhookInfo struct {
	URL       string   `json:"url"`
	Pending   int      `json:"pending_update_count"`
	ErrorDate quantity `json:"last_error_date"`
	Error     string   `json:"last_error_message"`
}

// listen is Run with a webhook: it sets it, lets updates in, and looks every minute whether Telegram can deliver.
func (c *Channel) listen(ctx context.Context, inbox channels.Inbox) error {
	c.health.Set(ctx, channels.Connecting, "")
	if err := c.identify(ctx); err != nil {
		return err
	}
	defer c.hook.run(ctx, inbox)()
	wait, tokens := channels.NewBackoff(time.Second, 40*time.Second), channels.NewBackoff(refusedFirst, refusedMost)
	set := false
	for ctx.Err() == nil {
		err := c.look(ctx, &set)
		failed := channels.Classify(err)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			wait.Reset()
			tokens.Reset()
			c.refusal.clear()
			channels.Sleep(ctx, webhookEvery)
		case failed.Class == channels.Unauthorized:
			if err := c.refused(ctx, failed); err != nil {
				return err
			}
			channels.Sleep(ctx, tokens.NextBackOff())
		case failed.Class == channels.Rejected: // it is configured wrongly, or the name is not known yet
			c.health.Set(ctx, channels.Disconnected, failed.Err.Error())
			channels.Sleep(ctx, webhookEvery)
		default:
			c.health.Set(ctx, channels.Disconnected, failed.Err.Error())
			channels.Sleep(ctx, max(wait.NextBackOff(), failed.RetryAfter))
		}
	}
	c.drop()
	c.health.Set(ctx, channels.Stopped, "")
	return nil
}

// look compares the webhook with what it should be, sets it, and notes how Telegram gets on with it. It is set anew at every start:
// what it should send, and the secret, are not told by getWebhookInfo.
func (c *Channel) look(ctx context.Context, set *bool) error {
	raw, err := c.calls.ofBot(ctx, c.calls.sends, callTimeout, "getWebhookInfo", nil)
	if err != nil {
		return err
	}
	var info webhookInfo
	if err := json.Unmarshal(raw, &info); err != nil {
		return &channels.Error{Class: channels.Transient, Err: &apiError{Method: "getWebhookInfo", Description: "unexpected answer"}}
	}
	if info.URL != "" && info.URL != c.cfg.Webhook.URL && !c.cfg.TakeOverWebhook {
		c.health.Set(ctx, channels.Conflict, "another webhook is set for this bot: call deleteWebhook, or set takeOverWebhook: true")
		return nil
	}
	if !*set || info.URL != c.cfg.Webhook.URL {
		params := tgbotapi.Params{
			"url": c.cfg.Webhook.URL, "secret_token": c.cfg.Webhook.Secret.Reveal(), "allowed_updates": allowedUpdates,
			"max_connections": strconv.Itoa(webhookConnections),
		}
		if _, err := c.calls.ofBot(ctx, c.calls.sends, callTimeout, "setWebhook", params); err != nil {
			return err
		}
		*set = true
		c.health.Set(ctx, channels.Connected, "")
		return nil
	}
	if age := time.Since(info.ErrorDate.time()); info.Error != "" && info.Pending > 0 && age < webhookErrors {
		c.health.Set(ctx, channels.Disconnected, fmt.Sprintf("Telegram cannot deliver %d updates: %s", info.Pending, c.calls.api.hide.Replace(channels.CleanText(info.Error))))
		return nil
	}
	c.health.Set(ctx, channels.Connected, "")
	return nil
}

// drop gives idle connections back.
func (c *Channel) drop() {
	if c.ownPoll {
		c.polls.CloseIdleConnections()
		c.calls.sends.CloseIdleConnections()
	}
}
