package access

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"parley/gateway/filesystem"
)

// checkInterval is how often the files of a certificate are looked at while people connect.
const checkInterval = 5 * time.Second

// Certificate serves a certificate from files, and reads them again when they change.
type Certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	now    *tls.Certificate
	stamp  string    // of the files that now was made of, or that could not be used
	looked time.Time // at the files
}

// OpenCertificate reads the files.
func OpenCertificate(cert, key string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log, stamp: stamp(cert, key), looked: time.Now()}
	pair, err := filesystem.KeyPair(cert, key)
	c.now = &pair
	return c, err
}

// Config is that of a server with the certificate: TLS 1.2 and later.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if time.Since(c.looked) >= checkInterval {
			c.look()
		}
		return c.now, nil
	}}
}

// Reload looks at the files now.
func (c *Certificate) Reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
}

// look reads the files when they have changed. Bad ones are reported once, and the last good ones stay. c.mu is held.
func (c *Certificate) look() {
	c.looked = time.Now()
	s := stamp(c.cert, c.key)
	if s == c.stamp {
		return
	}
	c.stamp = s
	pair, err := filesystem.KeyPair(c.cert, c.key)
	if err != nil {
		c.log.Error("cannot load the changed gateway.tls files", "hint", "the host keeps using the last valid certificate", "err", err)
		return
	}
	c.now = &pair
	c.log.Info("reloaded the certificate of gateway.tls")
}

// stamp changes when one of the files does.
func stamp(files ...string) (s string) {
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			s += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), ";")
		} else {
			s += "none;"
		}
	}
	return s
}
