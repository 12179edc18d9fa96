package whatsapp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// What is kept of chats without a number is bounded, in memory and in the file, and outlives the process.
func TestStrangersAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := whatsapp.LoadStrangers(dir)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3 * whatsapp.MostUnknown
	for i := range n {
		if err := s.Add(fmt.Sprintf("%d@lid", i)); err != nil {
			t.Fatal(err)
		}
		if s.Lines() > 2*whatsapp.MostUnknown {
			t.Fatalf("%d lines", s.Lines())
		}
	}
	if err := s.Remove(fmt.Sprintf("%d@lid", n-1)); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "unknown-numbers.txt"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = file.WriteString("12"); err != nil { // torn by a power cut
		t.Fatal(err)
	}
	_ = file.Close()
	again, err := whatsapp.LoadStrangers(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{0: false, n - whatsapp.MostUnknown - 1: false, n - whatsapp.MostUnknown/2: true, n - 2: true, n - 1: false} {
		if lid := fmt.Sprintf("%d@lid", i); s.Has(lid) != want || again.Has(lid) != want {
			t.Errorf("%s: %v, %v after a restart", lid, s.Has(lid), again.Has(lid))
		}
	}
	if err := again.Add("3@lid"); err != nil {
		t.Fatal(err)
	}
	if again, err = whatsapp.LoadStrangers(dir); err != nil || again.Has("12") || again.Has("123@lid") || !again.Has("3@lid") {
		t.Errorf("after half a line: %v", err)
	}
}

// While a move is refused, what is behind it under the number waits as well; and a second move is another event.
func TestRefusedMove(t *testing.T) {
	t.Parallel()
	h, _ := answered(t)
	hidden := h.s.NewPerson("Hidden")
	hidden.Name(whatsapptest.Hidden)
	hidden.Say(h.phone, "who am I")
	h.texts("who am I")
	tried := h.refusedOf(channels.Moved)
	hidden.Name(whatsapptest.ByLID)
	id := hidden.Say(h.phone, "it is me")
	hidden.Say(h.phone, "behind it")
	for range 4 {
		<-tried
	}
	h.refusing(nil)
	moved := h.next()
	if moved.Event != channels.Moved || !strings.HasSuffix(string(moved.ID), id) || moved.MovedTo != h.direct(hidden.Phone).Chat {
		t.Errorf("came: %+v", moved)
	}
	h.texts("it is me", "behind it")
	h.none()
	if err := h.end(); err != nil {
		t.Fatal(err)
	}
	if err := h.ch.Unpair(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
