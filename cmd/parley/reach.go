package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/filesystem"
	"parley/gateway/server"
	"parley/sessions/sqlstore"
)

// host is the running host as the command line sees it: nothing but its API.
type host struct {
	base   string          // its address; requests to it may take the way of the socket
	token  channels.Secret // zero when the socket needs none and it cannot be read
	client *http.Client
	state  string // its state folder
}

// running finds the host that owns the state folder of the configuration.
func running(e *env) (*host, error) {
	c, err := load(e)
	if _, invalid := errors.AsType[usageError](err); invalid {
		return despite(e, err)
	}
	if err != nil {
		return nil, err
	}
	o, err := sqlstore.ReadOwner(c.State)
	if err != nil || o.Address == "" {
		return nil, notRunning(c, o.Address)
	}
	token, ok, err := server.StoredToken(c.State, c.Gateway.Token)
	if o.Socket != "" {
		if t := overSocket(e.ctx, filepath.Join(c.State, filepath.Base(o.Socket))); t != nil {
			h := &host{base: o.Address, token: token, client: &http.Client{Transport: t}, state: c.State}
			return h, h.answers(e.ctx, o.PID, firstByte)
		}
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, notRunning(c, o.Address)
	}
	h := &host{base: o.Address, token: token, client: &http.Client{Transport: overNetwork(c.Gateway.TLS)}, state: c.State}
	return h, h.answers(e.ctx, o.PID, firstByte)
}

// despite finds a host that runs although the file cannot be used any more: it goes on with the last good one, and its socket needs
// nothing of the file but the state folder. invalid is what is wrong with the file, for when there is none.
func despite(e *env, invalid error) (*host, error) {
	path, err := e.configFile()
	if err != nil {
		return nil, err
	}
	dir, ok := config.StateOf(path, configfile.WithEnvFile(path, os.Getenv))
	if !ok {
		return nil, invalid
	}
	o, err := sqlstore.ReadOwner(dir)
	if err != nil || o.Address == "" || o.Socket == "" {
		return nil, invalid
	}
	t := overSocket(e.ctx, filepath.Join(dir, filepath.Base(o.Socket)))
	if t == nil {
		return nil, invalid
	}
	if !e.quiet {
		fmt.Fprintf(os.Stderr, "warning: %s is invalid; the running host keeps the last valid configuration (details: parley check)\n", path)
	}
	h := &host{base: o.Address, client: &http.Client{Transport: t}, state: dir}
	return h, h.answers(e.ctx, o.PID, firstByte)
}

// overSocket sends every request through the socket of the host, where nothing needs to be encrypted; nil when nobody is there.
func overSocket(ctx context.Context, path string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: firstByte}).DialContext(ctx, "unix", path)
	}
	c, err := dial(ctx, "", "")
	if err != nil {
		return nil
	}
	_ = c.Close()
	return &http.Transport{DialContext: dial, DialTLSContext: dial}
}

// overNetwork goes to the host itself: a proxy must not see the token. Over https it takes the very certificate of the configuration,
// whoever has signed it and whatever name is in it, and no other.
func overNetwork(t config.TLS) *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection is stricter: it knows the certificate
		VerifyConnection: func(s tls.ConnectionState) error {
			text, err := filesystem.Read(t.Cert)
			if err != nil {
				return fmt.Errorf("gateway.tls.cert: %w", err)
			}
			own, _ := pem.Decode(text)
			if own == nil || len(s.PeerCertificates) == 0 || !bytes.Equal(own.Bytes, s.PeerCertificates[0].Raw) {
				return errors.New("the server does not present the certificate of gateway.tls.cert")
			}
			return nil
		},
	}}
}
