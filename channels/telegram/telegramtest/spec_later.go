package telegramtest

// extend adds what later versions of the Bot API have and the stand-in uses: https://core.telegram.org/bots/api-changelog, 10.2 and 10.3.
func (s *Spec) extend() {
	field := func(name string, types ...string) *specField { return &specField{Name: name, Types: types} }
	need := func(name string, types ...string) *specField {
		return &specField{Name: name, Types: types, Required: true}
	}
	for name, fields := range map[string][]*specField{
		"Update":                     {field("stopped_message_generation", "MessageGenerationStopped"), field("subscription", "BotSubscriptionUpdated")},
		"Message":                    {field("ephemeral_message_id", "Integer"), field("receiver_user", "User"), field("community_chat_added", "CommunityChat"), field("community_chat_removed", "CommunityChat")},
		"ReplyParameters":            {field("ephemeral_message_id", "Integer")},
		"EphemeralMessageParameters": {need("receiver_user_id", "Integer"), field("callback_query_id", "String"), field("replace_callback_query_message", "Boolean")},
		"MessageGenerationStopped":   {need("chat", "Chat"), field("message_thread_id", "Integer"), need("draft_id", "Integer")},
		"BotSubscriptionUpdated":     {need("user", "User")},
		"CommunityChat":              {need("community", "Community")},
		"Community":                  {need("id", "Integer"), need("title", "String")},
	} {
		t := s.Types[name]
		t.Fields = append(t.Fields, fields...)
		s.Types[name] = t
	}
	for _, f := range s.Types["ReplyParameters"].Fields {
		f.Required = false // message_id, since ephemeral messages have another one
	}
	ephemeral := []*specField{field("ephemeral_message_parameters", "EphemeralMessageParameters"), field("receiver_user_id", "Integer")}
	for name, fields := range map[string][]*specField{
		"sendMessageDraft": {field("can_stop", "Boolean"), field("keep_on_stop", "Boolean")},
		"sendMessage":      ephemeral, "sendPhoto": ephemeral, "sendVideo": ephemeral, "sendAudio": ephemeral, "sendVoice": ephemeral, "sendDocument": ephemeral,
		"editEphemeralMessageText": {need("chat_id", "Integer"), need("receiver_user_id", "Integer"), need("ephemeral_message_id", "Integer"), need("text", "String"), field("parse_mode", "String"), field("link_preview_options", "LinkPreviewOptions")},
		"deleteEphemeralMessage":   {need("chat_id", "Integer"), need("receiver_user_id", "Integer"), need("ephemeral_message_id", "Integer")},
	} {
		m := s.Methods[name]
		m.Fields = append(m.Fields, fields...)
		if len(m.Returns) == 0 {
			m.Returns = []string{"True"}
		}
		s.Methods[name] = m
	}
}
