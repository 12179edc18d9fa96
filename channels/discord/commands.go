package discord

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"parley/channels"
)

var commandName = regexp.MustCompile(`^[a-z0-9_-]+$`)

// application gives the id under which commands are published. For all but the oldest bots it is that of their user.
func (c *Channel) application(ctx context.Context) (string, error) {
	if me := c.self(); me.Application != "" {
		return me.Application, nil
	}
	var said struct {
		ID string `json:"id"`
	}
	err := c.rest.get(ctx, "/applications/@me", route{path: "applications/@me", verb: http.MethodGet}, &said)
	if err == nil && isID(said.ID) {
		return said.ID, nil
	}
	if err != nil && !lacks(err) {
		return "", err
	}
	me, err := c.identify(ctx)
	return me.User, err
}

// Publish implements channels.Commander: it sets the bot's commands when they are not what is there. Commands whose names Discord does
// not allow are left out, and so are those beyond the hundredth.
func (c *Channel) Publish(ctx context.Context, cmds []channels.Command) error {
	app, err := c.application(ctx)
	if err != nil {
		return err
	}
	want := published(cmds)
	path := "/applications/" + url.PathEscape(app) + "/commands"
	var have []botCommand
	if err := c.rest.get(ctx, path, route{path: "applications/commands", verb: http.MethodGet, major: app}, &have); err != nil {
		return err
	}
	byName := func(a, b botCommand) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(have, byName)
	slices.SortFunc(want, byName)
	if slices.EqualFunc(have, want, botCommand.equal) {
		return nil
	}
	_, err = c.rest.call(ctx, request{method: http.MethodPut, path: path, route: route{path: "applications/commands", verb: http.MethodPut, major: app}, body: want})
	return err
}

// botCommand is a command of the menu. Each takes one line of free text, as it would be typed behind its name.
type botCommand struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        int             `json:"type"`
	Options     []commandOption `json:"options"`
}

type commandOption struct {
	Type        int    `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

const optionText = 3

func (b botCommand) equal(o botCommand) bool {
	return b.Name == o.Name && b.Description == o.Description && max(b.Type, kindTyped) == max(o.Type, kindTyped) && slices.Equal(b.Options, o.Options)
}

// published makes the menu, within the platform's limits.
// https://discord.com/developers/docs/interactions/application-commands#application-command-object
func published(cmds []channels.Command) []botCommand {
	const mostCommands, longestName, longestDescription = 100, 32, 100
	list := []botCommand{}
	for _, cmd := range cmds {
		text := []rune(cmd.Description)
		if !commandName.MatchString(cmd.Name) || len(cmd.Name) > longestName || len(text) == 0 || len(list) == mostCommands {
			continue
		}
		list = append(list, botCommand{
			Name: cmd.Name, Description: string(text[:min(len(text), longestDescription)]), Type: kindTyped,
			Options: []commandOption{{Type: optionText, Name: "args", Description: "Text after the command"}},
		})
	}
	return list
}
