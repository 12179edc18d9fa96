package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/channels/channeltest"
	"parley/sessions"
)

// TestFaultKillOnEveryPlatform kills the program at one call of its store after the other while people on three platforms wait for an
// answer, and starts it again: each message is answered, on WhatsApp and Discord once, on Telegram a second time only where the ledger
// says that it may be.
//
// proves: D3, D4
func TestFaultKillOnEveryPlatform(t *testing.T) {
	t.Parallel()
	x := newThree(t)
	dm := x.dc.AddDM(olgaOnDiscord)
	own := []corner{x.whatsapp(x.olga.Phone, ""), x.discord(dm, ""), x.telegram(owner, "")}
	own[0].tell = func(text string) { x.olga.Say(x.bot, text) }
	p := x.start()
	for _, c := range own {
		c.tell("hello from " + c.name)
		x.shows(c, 1)
	}
	p.kill()
	repeats := 0
	const calls = 16 // of the store, until three messages are answered
	kills := channeltest.Times(4, 500)
	for n := range kills {
		file := filepath.Join(x.dir, "trace")
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		dead := x.launch(file, 2+n*calls/min(kills, calls)%calls)
		for _, c := range own {
			c.tell(fmt.Sprintf("message %d.", n))
		}
		<-dead
		p := x.start()
		for _, c := range own {
			x.until(patience, fmt.Sprintf("message %d is answered on %s", n, c.name), func() bool { return count(c.texts(), fmt.Sprintf("message %d.", n)) > 0 })
		}
		x.quiet()
		marked := 0
		for _, d := range fromAPI[[]sessions.Delivery](x.world, "/api/deliveries?limit=1000", nil) {
			if d.Repeat && strings.Contains(d.Text, fmt.Sprintf("message %d.", n)) {
				marked++
			}
		}
		p.kill()
		for _, c := range own {
			twice := count(c.texts(), fmt.Sprintf("message %d.", n)) - 1
			if c.name == "telegram" && twice <= marked {
				repeats += twice
			} else if twice > 0 {
				t.Errorf("kill %d: %s shows the answer %d times, %d deliveries are marked: %q", n, c.name, twice+1, marked, c.texts())
			}
		}
	}
	t.Logf("%d kills; %d answers came twice on Telegram, all of them marked", kills, repeats)
}

// count is how many texts have a part.
func count(texts []string, part string) (n int) {
	for _, s := range texts {
		if strings.Contains(s, part) {
			n++
		}
	}
	return n
}
