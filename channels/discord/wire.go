package discord

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"parley/channels"
)

// The parts of Discord's objects that are used. discordgo's own types are not: they refuse a message whole because of one component
// of a kind that is newer than the library.
type (
	wireUser struct {
		ID         string      `json:"id"`
		Username   string      `json:"username"`
		Number     string      `json:"discriminator"` // "0" = the username is unique
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
		OldStickers     []wireSticker    `json:"stickers"` // of older servers, and in some forwards
		Components      []wireComponent  `json:"components"`
		Poll            *wirePoll        `json:"poll"`
		Activity        json.RawMessage  `json:"activity"`
		Application     *struct {
			Name string `json:"name"`
		} `json:"application"`
		MentionChannels []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"mention_channels"`
		Flags         int            `json:"flags"`
		Type          int            `json:"type"`
		WebhookID     string         `json:"webhook_id"`
		ApplicationID string         `json:"application_id"`
		Reference     *wireReference `json:"message_reference"`
		Referenced    *wireMessage   `json:"referenced_message"`
		Snapshots     []struct {
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
		ChannelID string `json:"channel_id"`
		GuildID   string `json:"guild_id"`
	}
	wireAttachment struct {
		ID          string `json:"id"`
		Filename    string `json:"filename"`
		ContentType string `json:"content_type"`
		Description string `json:"description"`
		Size        amount `json:"size"`
		Seconds     amount `json:"duration_secs"`
		Waveform    string `json:"waveform"`
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
		Image     wireMedia `json:"image"`
		Thumbnail wireMedia `json:"thumbnail"`
		Video     wireMedia `json:"video"`
	}
	wireMedia struct {
		URL          string `json:"url"`
		ContentType  string `json:"content_type"`
		AttachmentID string `json:"attachment_id"`
	}
	// wireComponent has the fields of all kinds of components that say something.
	wireComponent struct {
		Type        int             `json:"type"`
		Content     string          `json:"content"`     // of a text
		Label       string          `json:"label"`       // of a button
		URL         string          `json:"url"`         // of a button
		Emoji       wireEmoji       `json:"emoji"`       // of a button
		Placeholder string          `json:"placeholder"` // of a menu
		Description string          `json:"description"` // of a picture
		Media       wireMedia       `json:"media"`       // of a picture
		File        wireMedia       `json:"file"`
		Name        string          `json:"name"` // of a file
		Size        amount          `json:"size"` // of a file
		Components  []wireComponent `json:"components"`
		Accessory   *wireComponent  `json:"accessory"`
		Options     []struct {
			Label       string `json:"label"`
			Description string `json:"description"`
		} `json:"options"`
		Items []struct {
			Media       wireMedia `json:"media"`
			Description string    `json:"description"`
		} `json:"items"`
	}
	wirePoll struct {
		Question wirePollText `json:"question"`
		Answers  []struct {
			ID    int          `json:"answer_id"`
			Media wirePollText `json:"poll_media"`
		} `json:"answers"`
		Several bool   `json:"allow_multiselect"`
		Expiry  string `json:"expiry"`
		Results *struct {
			Counts []struct {
				ID    int    `json:"id"`
				Count amount `json:"count"`
			} `json:"answer_counts"`
		} `json:"results"`
	}
	wirePollText struct {
		Text  string    `json:"text"`
		Emoji wireEmoji `json:"emoji"`
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

// amount is a number that is only good to know: one that makes no sense is 0, and costs nothing else.
type amount float64

// UnmarshalJSON implements json.Unmarshaler. It takes everything.
func (a *amount) UnmarshalJSON(raw []byte) error {
	const most = 1 << 50
	f, err := strconv.ParseFloat(string(raw), 64)
	if *a = amount(f); err != nil || math.IsNaN(f) || f < 0 || f > most {
		*a = 0
	}
	return nil
}

// name is what people see; username when the person chose no other.
func (u wireUser) name() string {
	if u.GlobalName != "" {
		return channels.CleanName(u.GlobalName)
	}
	return channels.CleanName(u.Username)
}

// handle is the name that nobody else has. Those of bots, and of people with an old name, are only unique with a number behind them.
// https://discord.com/developers/docs/resources/user#usernames-and-nicknames
func (u wireUser) handle() string {
	name := channels.CleanText(u.Username)
	if u.Number != "" && strings.Trim(u.Number, "0") != "" {
		name += "#" + channels.CleanText(u.Number)
	}
	return name
}

// shown is what people see in a server.
func (u wireUser) shown(m *wireMember) string {
	if m != nil && m.Nick != "" {
		return channels.CleanName(m.Nick)
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
	Type        int    `json:"type"`
}

func (e event) peek() peeked {
	var p peeked
	_ = json.Unmarshal(e.data, &p) // what cannot be read stays empty
	return p
}
