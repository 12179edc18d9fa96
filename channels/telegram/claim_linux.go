package telegram

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"syscall"
)

// claim takes a bot for this process: no other process of this computer polls for it meanwhile. It is a name of the kernel's and no file:
// it is gone with the process, however that ends, and needs no folder that two hosts share. taken says that another one has it. Containers
// with a network of their own do not see each other's names.
func claim(ctx context.Context, url, token string) (c io.Closer, taken bool) {
	sum := sha256.Sum256([]byte(url + "\n" + token))
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", "@parley-telegram-"+hex.EncodeToString(sum[:16]))
	if err != nil { // a system that has no such names is no reason not to work
		return nopCloser{}, errors.Is(err, syscall.EADDRINUSE)
	}
	return l, false
}
