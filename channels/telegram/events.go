package telegram

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/channels"
)

// What happens in a chat besides messages.
type (
	wireService struct {
		NewMembers   []wireUser        `json:"new_chat_members"`
		LeftMember   *wireUser         `json:"left_chat_member"`
		NewTitle     string            `json:"new_chat_title"`
		MigrateTo    int64             `json:"migrate_to_chat_id"`
		MigrateFrom  int64             `json:"migrate_from_chat_id"`
		TopicCreated *wireName         `json:"forum_topic_created"`
		TopicEdited  *wireName         `json:"forum_topic_edited"`
		TasksDone    *wireTasks        `json:"checklist_tasks_done"`
		TasksAdded   *wireTasks        `json:"checklist_tasks_added"`
		OptionAdded  *wireOptionChange `json:"poll_option_added"`
		OptionGone   *wireOptionChange `json:"poll_option_deleted"`
	}
	wireTasks struct {
		Message *wireReply `json:"checklist_message"`
		Done    []int64    `json:"marked_as_done_task_ids"`
		Undone  []int64    `json:"marked_as_not_done_task_ids"`
		Tasks   []wireTask `json:"tasks"`
	}
	wireOptionChange struct {
		Message *wireReply `json:"poll_message"`
	}
	// wireStopped says that a person had enough of an answer that was being shown.
	wireStopped struct {
		Chat     *wireChat `json:"chat"`
		ThreadID int64     `json:"message_thread_id"`
		DraftID  int64     `json:"draft_id"`
	}
	wireName struct {
		Name string `json:"name"`
	}
	wireReacted struct {
		Chat      *wireChat      `json:"chat"`
		MessageID int64          `json:"message_id"`
		User      *wireUser      `json:"user"`
		Actor     *wireChat      `json:"actor_chat"`
		Date      quantity       `json:"date"`
		New       []wireReaction `json:"new_reaction"`
	}
	wireReaction struct {
		Type  string `json:"type"`
		Emoji string `json:"emoji"`
	}
	wireMember struct {
		Chat *wireChat  `json:"chat"`
		From *wireUser  `json:"from"`
		Date quantity   `json:"date"`
		Old  wireStatus `json:"old_chat_member"`
		New  wireStatus `json:"new_chat_member"`
	}
	wireStatus struct {
		Status   string `json:"status"`
		IsMember bool   `json:"is_member"`
	}
)

func (r *wireReacted) chat() *wireChat {
	if r == nil {
		return nil
	}
	return r.Chat
}

func (s *wireStopped) chat() *wireChat {
	if s == nil {
		return nil
	}
	return s.Chat
}

func (m *wireMember) chat() *wireChat {
	if m == nil {
		return nil
	}
	return m.Chat
}

// service makes the event of what Telegram itself reports as a message, if it is one that a host has a use for.
func (d decoder) service(m *wireMessage, in *channels.Inbound) bool {
	switch {
	case len(m.NewMembers) > 0:
		in.Event = channels.Joined
		for i := range m.NewMembers {
			if u := &m.NewMembers[i]; u.ID != 0 && u.ID != d.me.ID {
				in.People = append(in.People, u.sender())
			}
		}
		return len(in.People) > 0 // the bot itself: my_chat_member says so
	case m.LeftMember != nil:
		in.Event, in.People = channels.Left, []channels.Sender{m.LeftMember.sender()}
		return m.LeftMember.ID != 0 && m.LeftMember.ID != d.me.ID
	case m.NewTitle != "":
		in.Event, in.Title = channels.Renamed, channels.CleanName(m.NewTitle)
	case m.TopicCreated != nil:
		return d.named(m, m.TopicCreated.Name, in)
	case m.TopicEdited != nil:
		return d.named(m, m.TopicEdited.Name, in)
	case m.TasksDone != nil:
		return m.TasksDone.change(in)
	case m.TasksAdded != nil:
		return m.TasksAdded.change(in)
	case m.OptionAdded != nil:
		return changed(m.OptionAdded.Message, in)
	case m.OptionGone != nil:
		return changed(m.OptionGone.Message, in)
	case m.MigrateTo < 0 && m.Chat.ID < 0: // only groups become supergroups
		d.moved(m.Chat.ID, m.MigrateTo, in)
	case m.MigrateFrom < 0 && m.Chat.ID < 0:
		d.moved(m.MigrateFrom, m.Chat.ID, in)
	default:
		return false
	}
	return true
}

// change is the event of a checklist that somebody ticked or made longer.
func (t *wireTasks) change(in *channels.Inbound) bool {
	if t.Message == nil || t.Message.Checklist == nil {
		return false
	}
	list := t.Message.Checklist
	for i := range list.Tasks { // the list may be as it was before
		switch id := list.Tasks[i].ID; {
		case slices.Contains(t.Done, id):
			list.Tasks[i].Done = 1
		case slices.Contains(t.Undone, id):
			list.Tasks[i] = wireTask{ID: id, Text: list.Tasks[i].Text}
		}
	}
	for _, task := range t.Tasks {
		if !slices.ContainsFunc(list.Tasks, func(has wireTask) bool { return has.ID == task.ID }) {
			list.Tasks = append(list.Tasks, task)
		}
	}
	return changed(t.Message, in)
}

// changed is the event of a checklist or poll that is another one now.
func changed(m *wireReply, in *channels.Inbound) bool {
	if m == nil || m.MessageID <= 0 {
		return false
	}
	in.Event, in.Target, in.Text = channels.Edited, messageID(int64(m.MessageID)), channels.CleanText(m.thing())
	return in.Text != ""
}

// stop is a press on the button below a draft, which means as much as /stop. One that comes late, for an answer that is shown already, must
// not stop the next one.
func (d decoder) stop(s *wireStopped, update int64) (in channels.Inbound, skip string, err error) {
	if in, err = d.happened(s.Chat, 0); err != nil {
		return in, "", err
	}
	if s.ThreadID > 1 {
		in.Address.Thread = channels.ThreadID(strconv.FormatInt(s.ThreadID, 10))
	}
	if in.Address.Type != channels.Direct || d.stopped == nil || !d.stopped(in.Address, s.DraftID) {
		return in, "stopped_message_generation", nil
	}
	in.Event, in.ID, in.Sender, in.Text = channels.Message, eventID(0, update), s.Chat.sender(), "/stop"
	return in, "", nil
}

// named is the event of a topic that has a name now. An edit may change only the icon; General keeps the name of the chat.
func (d decoder) named(m *wireMessage, name string, in *channels.Inbound) bool {
	if name == "" || in.Address.Thread == "" {
		return false
	}
	d.topics.rename(in.Address, name)
	in.Event, in.Title = channels.Renamed, channels.CleanName(m.Chat.Title+" / "+name)
	return true
}

// moved is the event of a group that became a supergroup. Telegram says it in both chats; it is one event of the old one.
func (d decoder) moved(from, to int64, in *channels.Inbound) {
	in.Event, in.Address.Chat, in.Address.Thread = channels.Moved, chatID(from), ""
	in.MovedTo = chatID(to)
	in.ID = channels.MessageID("moved:" + string(in.MovedTo))
}

// reaction is the event of somebody's reactions below a message: all that are there now, as one.
func (d decoder) reaction(r *wireReacted, update int64) (channels.Inbound, error) {
	in, err := d.happened(r.Chat, r.Date)
	if err != nil {
		return in, err
	}
	if r.MessageID <= 0 {
		return in, fmt.Errorf("message_id %d is not a message id", r.MessageID)
	}
	switch {
	case r.User != nil && r.User.ID != 0:
		in.Sender = r.User.sender()
		in.SentByThisLogin = r.User.ID == d.me.ID
	case r.Actor != nil && r.Actor.ID != 0:
		in.Sender = r.Actor.sender()
	default:
		return in, errors.New("a reaction without a person")
	}
	var emoji []string
	for _, one := range r.New {
		switch {
		case one.Emoji != "":
			emoji = append(emoji, one.Emoji)
		case one.Type == "paid":
			emoji = append(emoji, "⭐")
		default:
			emoji = append(emoji, "(an emoji of their own)")
		}
	}
	in.Event, in.Emoji = channels.Reacted, channels.CleanText(strings.Join(emoji, " "))
	in.ID, in.Target = eventID(r.MessageID, update), messageID(r.MessageID)
	if in.Address.Thread = d.topics.thread(in.Address.Chat, r.MessageID); in.Address.Thread == "" && r.Chat.IsDirect {
		return in, errNobodysTopic
	}
	return in, nil
}

// membership is the event of the bot itself coming and going: added, removed, blocked, unblocked.
func (d decoder) membership(m *wireMember, update int64) (in channels.Inbound, skip string, err error) {
	if in, err = d.happened(m.Chat, m.Date); err != nil {
		return in, "", err
	}
	if m.From == nil || m.From.ID == 0 {
		return in, "", errors.New("a membership change without a person")
	}
	in.ID, in.Sender = eventID(0, update), m.From.sender()
	in.Self, in.People = true, []channels.Sender{{ID: userID(d.me.ID), Username: d.me.Username, Name: d.me.Username, Bot: true}}
	was, is := m.Old.present(), m.New.present()
	switch {
	case is && !was:
		in.Event = channels.Joined
	case was && !is:
		in.Event = channels.Left
	default:
		return in, "my_chat_member", nil // other rights
	}
	return in, "", nil
}

// happened is the start of an event that comes without a message.
func (d decoder) happened(c *wireChat, date quantity) (channels.Inbound, error) {
	a, err := d.place(c)
	in := channels.Inbound{Address: a, Time: date.time()}
	if err == nil && a.Type != channels.Direct {
		in.Title = channels.CleanName(c.Title)
	}
	return in, err
}

func (s wireStatus) present() bool {
	switch s.Status {
	case "left", "kicked", "":
		return false
	case "restricted":
		return s.IsMember
	}
	return true
}
