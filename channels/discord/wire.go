package discord

import (
	"encoding/json"
	"parley/channels"
	"strings"
)

// The parts of Discord's objects that are used. discordgo's own types are not: they refuse a message whole because of one component
// of a kind that is newer than the library.
type (
	wireUser struct {
		ID         string      `json:"id"`
		Username   string      `json:"username"`
		GlobalName string      `json:"global_name"`
		Bot        bool        `json:"bot"`
		Member     *wireMember `json:"member"` // of a mentioned user
	}
	wireMember struct {
		User  *wireUser `json:"user"`
		Nick  string    `json:"nick"`
		Roles []string  `json:"roles"`
	}
	wireMessage struct {
		ID              string           `json:"id"`
		ChannelID       string           `json:"channel_id"`
		ChannelType     *int             `json:"channel_type"`
		GuildID         string           `json:"guild_id"`
		Author          *wireUser        `json:"author"`
		Member          *wireMember      `json:"member"`
		Content         string           `json:"content"`
		Timestamp       string           `json:"timestamp"`
		EditedTimestamp string           `json:"edited_timestamp"`
		Mentions        []wireUser       `json:"mentions"`
		MentionRoles    []string         `json:"mention_roles"`
		Attachments     []wireAttachment `json:"attachments"`
		Embeds          []wireEmbed      `json:"embeds"`
		Stickers        []wireSticker    `json:"sticker_items"`
		Poll            *wirePoll        `json:"poll"`
		Type            int              `json:"type"`
		WebhookID       string           `json:"webhook_id"`
		ApplicationID   string           `json:"application_id"`
		Reference       *wireReference   `json:"message_reference"`
		Referenced      *wireMessage     `json:"referenced_message"`
		Snapshots       []struct {
			Message wireMessage `json:"message"`
		} `json:"message_snapshots"`
		Nonce     json.RawMessage `json:"nonce"`
		Reactions []struct {
			Me    bool      `json:"me"`
			Emoji wireEmoji `json:"emoji"`
		} `json:"reactions"`
	}
	wireReference struct {
		Type      int    `json:"type"` // 1 = forwarded
		MessageID string `json:"message_id"`
	}
	wireAttachment struct {
		ID          string `json:"id"`
		Filename    string `json:"filename"`
		ContentType string `json:"content_type"`
		Size        int64  `json:"size"`
		URL         string `json:"url"`
	}
	wireSticker struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Format int    `json:"format_type"`
	}
	wireEmbed struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		URL         string `json:"url"`
		Author      struct {
			Name string `json:"name"`
		} `json:"author"`
		Fields []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"fields"`
		Footer struct {
			Text string `json:"text"`
		} `json:"footer"`
	}
	wirePoll struct {
		Question struct {
			Text string `json:"text"`
		} `json:"question"`
		Answers []struct {
			Media struct {
				Text string `json:"text"`
			} `json:"poll_media"`
		} `json:"answers"`
	}
	wireEmoji struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	wireReaction struct {
		UserID    string      `json:"user_id"`
		ChannelID string      `json:"channel_id"`
		MessageID string      `json:"message_id"`
		GuildID   string      `json:"guild_id"`
		Member    *wireMember `json:"member"`
		Emoji     wireEmoji   `json:"emoji"`
	}
	wireInteraction struct {
		ID        string       `json:"id"`
		Type      int          `json:"type"`
		Token     string       `json:"token"`
		AppID     string       `json:"application_id"`
		ChannelID string       `json:"channel_id"`
		GuildID   string       `json:"guild_id"`
		Channel   *wireChannel `json:"channel"`
		Member    *wireMember  `json:"member"`
		User      *wireUser    `json:"user"`
		Data      struct {
			Type    int          `json:"type"`
			Name    string       `json:"name"`
			Options []wireOption `json:"options"`
		} `json:"data"`
	}
	wireOption struct {
		Name    string          `json:"name"`
		Type    int             `json:"type"`
		Value   json.RawMessage `json:"value"`
		Options []wireOption    `json:"options"`
	}
)

// name is what people see; username when the person chose no other.
func (u wireUser) name() string {
	if u.GlobalName != "" {
		return channels.CleanText(u.GlobalName)
	}
	return channels.CleanText(u.Username)
}

// shown is what people see in a server.
func (u wireUser) shown(m *wireMember) string {
	if m != nil && m.Nick != "" {
		return channels.CleanText(m.Nick)
	}
	return u.name()
}

// text is the emoji as people write it.
func (e wireEmoji) text() string {
	if e.ID != "" {
		return ":" + channels.CleanText(strings.Trim(e.Name, ":")) + ":"
	}
	return channels.CleanText(e.Name)
}

// peeked is what the order of events needs to know about one.
type peeked struct {
	ID          string `json:"id"`
	ChannelID   string `json:"channel_id"`
	ChannelType *int   `json:"channel_type"`
	GuildID     string `json:"guild_id"`
}

func (e event) peek() peeked {
	var p peeked
	_ = json.Unmarshal(e.data, &p) // what cannot be read stays empty
	return p
}
