package telegram

import (
	"context"
	"io"
	"time"

	"parley/channels"
)

// claimAgain is how often a bot is asked for that another process of this computer has. No call to Telegram is made meanwhile.
const claimAgain = 2 * time.Second

const claimedWords = "another process on this computer, or an account of this host that is still stopping, uses this bot token: stop that process, or use a separate bot for this host"

type nopCloser struct{}

func (nopCloser) Close() error { return nil }

// claimed waits until no other process of this computer polls for the bot, and gives what lets go of it; nil when ctx ended before.
func (c *Channel) claimed(ctx context.Context) io.Closer {
	if !c.ownPoll { // whoever brings the connections knows who uses them
		return nopCloser{}
	}
	for told := false; ; told = true {
		mine, taken := claim(ctx, c.cfg.APIURL, c.cfg.Token.Reveal())
		if !taken {
			return mine
		}
		if !told {
			c.log.ErrorContext(ctx, "another process uses the Telegram bot token", "hint", claimedWords)
			c.health.Set(ctx, channels.Conflict, claimedWords)
		}
		if !channels.Sleep(ctx, claimAgain) {
			return nil
		}
	}
}
