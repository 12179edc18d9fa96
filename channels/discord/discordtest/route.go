package discordtest

import (
	"net/http"
	"net/url"
	"strings"
)

// The routes that faults and Calls name, as the API's description writes them.
const (
	RouteGateway     = "/gateway"
	RouteGatewayBot  = "/gateway/bot"
	RouteMe          = "/users/@me"
	RouteUser        = "/users/{user_id}"
	RouteDMs         = "/users/@me/channels"
	RouteApplication = "/applications/@me"
	RouteOAuth       = "/oauth2/applications/@me"
	RouteCommands    = "/applications/{application_id}/commands"
	RouteGuildCmds   = "/applications/{application_id}/guilds/{guild_id}/commands"
	RouteGuild       = "/guilds/{guild_id}"
	RouteMember      = "/guilds/{guild_id}/members/{user_id}"
	RouteChannel     = "/channels/{channel_id}"
	RouteMessages    = "/channels/{channel_id}/messages"
	RouteMessage     = "/channels/{channel_id}/messages/{message_id}"
	RouteReaction    = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me"
	RouteTyping      = "/channels/{channel_id}/typing"
	RouteCallback    = "/interactions/{interaction_id}/{interaction_token}/callback"
	RouteFollowUp    = "/webhooks/{webhook_id}/{webhook_token}"
	RouteOriginal    = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
	RouteFile        = "/attachments" // of the host of files
)

type route struct {
	method, path string
	open         bool // the path itself is the secret
	do           func(*Server, *request) reply
}

// routes is everything that the stand-in answers. Literal paths stand before those with variables.
func routes() []route {
	return []route{
		{http.MethodGet, RouteGateway, true, (*Server).getGateway},
		{http.MethodGet, RouteGatewayBot, false, (*Server).getGatewayBot},
		{http.MethodGet, RouteMe, false, (*Server).getMe},
		{http.MethodPost, RouteDMs, false, (*Server).createDM},
		{http.MethodGet, RouteUser, false, (*Server).getUser},
		{http.MethodGet, RouteApplication, false, (*Server).getApplication},
		{http.MethodGet, RouteOAuth, false, (*Server).getApplication},
		{http.MethodGet, RouteCommands, false, (*Server).getCommands},
		{http.MethodPut, RouteCommands, false, (*Server).putCommands},
		{http.MethodGet, RouteGuildCmds, false, (*Server).getCommands},
		{http.MethodPut, RouteGuildCmds, false, (*Server).putCommands},
		{http.MethodGet, RouteMember, false, (*Server).getMember},
		{http.MethodGet, RouteGuild, false, (*Server).getGuild},
		{http.MethodGet, RouteChannel, false, (*Server).getChannel},
		{http.MethodGet, RouteMessages, false, (*Server).getMessages},
		{http.MethodPost, RouteMessages, false, (*Server).createMessage},
		{http.MethodGet, RouteMessage, false, (*Server).getMessage},
		{http.MethodPatch, RouteMessage, false, (*Server).editMessage},
		{http.MethodDelete, RouteMessage, false, (*Server).deleteMessage},
		{http.MethodPut, RouteReaction, false, (*Server).addReaction},
		{http.MethodDelete, RouteReaction, false, (*Server).removeReaction},
		{http.MethodPost, RouteTyping, false, (*Server).showTyping},
		{http.MethodPost, RouteCallback, true, (*Server).callback},
		{http.MethodPost, RouteFollowUp, true, (*Server).followUp},
		{http.MethodGet, RouteOriginal, true, (*Server).getOriginal},
		{http.MethodPatch, RouteOriginal, true, (*Server).editOriginal},
		{http.MethodDelete, RouteOriginal, true, (*Server).deleteOriginal},
	}
}

func find(method, path string) *route {
	for _, r := range routes() {
		if r.method == method && r.path == path {
			return &r
		}
	}
	return nil
}

// match finds the route of an escaped path and the values of its variables.
func match(method, path string) (string, map[string]string) {
	got := strings.Split(path, "/")
	for _, r := range routes() {
		want := strings.Split(r.path, "/")
		if r.method != method || len(want) != len(got) {
			continue
		}
		if vars := matchParts(want, got); vars != nil {
			return r.path, vars
		}
	}
	return "", nil
}

func matchParts(want, got []string) map[string]string {
	vars := map[string]string{}
	for i, w := range want {
		value, err := url.PathUnescape(got[i])
		if err != nil {
			return nil
		}
		if name, is := strings.CutPrefix(w, "{"); is {
			vars[strings.TrimSuffix(name, "}")] = value
		} else if w != value {
			return nil
		}
	}
	return vars
}
