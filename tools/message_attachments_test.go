package tools

import (
	"errors"
	"io"
	"strings"
	"testing"

	"parley/channels"
	"parley/sessions"
)

// TestMessageAttachments: files that came with messages or with results of tools of the session are posted by their ids, under names that
// say what they are; what is of another session or cannot be had is not.
func TestMessageAttachments(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.caller.Run.Reply = chat("telegram", "7", "direct")
	w.files = map[string][]byte{"q.txt": []byte("from Bo"), "shot": []byte("a picture")}
	w.sent(0, file("aaaa1111", "q.txt"), file("cccc3333", "gone.txt"))
	w.sent(1, file("dddd4444", "of another session"))
	made := toolResult("c1", "[image image/png, 9 bytes: attachment bbbb2222]")
	made.Content = append(made.Content, sessions.Block{Type: sessions.ImageBlock, ID: "bbbb2222", MIME: "image/png", Media: &channels.Media{Kind: channels.Image, Ref: "shot", MIME: "image/png", Size: 9}})
	w.messages[id(0)] = append(w.messages[id(0)], made)

	list := call[attachmentsResult](t, w, AttachmentsTool(w.deps()), `{"action":"list"}`)
	if len(list.Files) != 3 || list.Files[0].ID != "bbbb2222" || list.Files[0].From != "tool look" {
		t.Errorf("listed: %+v", list.Files)
	}
	call[messageResult](t, w, Message(w.deps()), `{"to":"current","attachments":["BBBB2222 ","aaaa1111","cccc3333"]}`)
	if len(w.posted) != 1 || len(w.posted[0].Files) != 3 {
		t.Fatalf("posted: %+v", w.posted)
	}
	for i, want := range []string{"bbbb2222.png: a picture", "q.txt: from Bo", "gone.txt: could not be had: the platform has it no more"} {
		f := w.posted[0].Files[i]
		r, err := f.Open()
		if err == nil {
			b, _ := io.ReadAll(r)
			err = errors.New(f.Name + ": " + string(b))
		} else {
			w.refuse = err
			err = errors.New(f.Name + ": " + call[problem](t, w, Message(w.deps()), `{"to":"current","text":"x"}`).Error)
			w.refuse = nil
		}
		got := err.Error()
		if !strings.Contains(got, want) && (i < 2 || !strings.Contains(got, "the platform has it no more")) {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	posted := len(w.posted)
	for args, says := range map[string]string{
		`{"to":"current","attachments":["dddd4444"]}`:                                         "has a file dddd4444",
		`{"to":"current","attachments":["` + strings.Repeat(`aaaa1111","`, maxPosted) + `"]}`: "for one message is 10",
	} {
		if r := call[problem](t, w, Message(w.deps()), args); !strings.Contains(r.Error, says) {
			t.Errorf("%.60s: %+v", args, r)
		}
	}
	w.caller.May = func(tool string) bool { return tool != "attachments" }
	if r := call[problem](t, w, Message(w.deps()), `{"to":"current","text":"x","attachments":["aaaa1111"]}`); r.Status != "forbidden" || len(w.posted) != posted {
		t.Errorf("without the right to attachments: %+v", r)
	}
}
