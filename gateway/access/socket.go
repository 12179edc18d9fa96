package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// SocketName is the socket in the state folder.
const SocketName = "parley.sock"

// maxSocket is the longest path of a socket; systems differ a little.
const maxSocket = 100

// ErrLongPath says that a state folder has too long a name for a socket in it.
var ErrLongPath = fmt.Errorf("the path of the socket is longer than %d bytes", maxSocket)

// ErrInUse says that another process listens on the socket.
var ErrInUse = errors.New("another process listens on the socket of this state folder: stop it first")

// Socket listens on the socket of a state folder, which only the user of the host can reach. A socket without a listener is
// replaced, one with a listener is not.
func Socket(ctx context.Context, dir string) (net.Listener, error) {
	path := filepath.Join(dir, SocketName)
	if len(path) > maxSocket {
		return nil, ErrLongPath
	}
	if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	}
	// It is made in a folder of the user's own and put in place with its mode: there is no moment at which others could connect.
	private := filepath.Join(dir, ".sock")
	if err := errors.Join(os.RemoveAll(private), os.Mkdir(private, 0o700)); err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(private) }()
	made := filepath.Join(private, "s")
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", made)
	if err != nil {
		return nil, err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it goes by another name
	}
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		_ = l.Close()
		return nil, err
	}
	return &socket{Listener: l, remove: sync.OnceFunc(func() { _ = os.Remove(path) })}, nil
}

// socket takes its file away when it is closed.
type socket struct {
	net.Listener
	remove func()
}

// Close implements net.Listener.
func (s *socket) Close() error {
	s.remove()
	return s.Listener.Close()
}
