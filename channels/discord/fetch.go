package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"parley/channels"
)

// fileRef says where a file is: its address, which expires, and the message that gives a new one.
type fileRef struct{ url, chat, message, file string }

// String writes the message behind the address as a fragment, which is never sent.
func (f fileRef) String() string {
	at, _, _ := strings.Cut(f.url, "#")
	return at + "#" + f.chat + "/" + f.message + "/" + f.file
}

func parseFileRef(ref string) (fileRef, error) {
	at, where, _ := strings.Cut(ref, "#")
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fileRef{}, errors.New("the file's reference is not a URL")
	}
	f := fileRef{url: at}
	if part := strings.Split(where, "/"); len(part) == 3 && isID(part[0]) && isID(part[1]) {
		f.chat, f.message, f.file = part[0], part[1], part[2]
	}
	return f, nil
}

// Fetch implements channels.Fetcher. An address that has expired is asked for again, once.
func (c *Channel) Fetch(ctx context.Context, m channels.Media, limit int64) ([]byte, error) {
	ref, err := parseFileRef(m.Ref)
	if err != nil {
		return nil, &channels.Error{Class: channels.Rejected, Err: err}
	}
	if m.Size > limit {
		return nil, channels.TooLarge(m.Size, limit)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	data, status, err := c.download(ctx, ref.url, limit)
	if status != http.StatusForbidden && status != http.StatusNotFound || ref.message == "" {
		return data, err
	}
	if ref.url, err = c.renew(ctx, ref); err != nil {
		return nil, err
	}
	data, _, err = c.download(ctx, ref.url, limit)
	return data, err
}

// renew reads the message again, whose files have fresh addresses.
func (c *Channel) renew(ctx context.Context, ref fileRef) (string, error) {
	chat := channels.ChatID(ref.chat)
	var m wireMessage
	if err := c.rest.get(ctx, messagePath(chat, channels.MessageID(ref.message)), messageRoute(http.MethodGet, chat), &m); err != nil {
		return "", err
	}
	list := m.Attachments
	for _, s := range m.Snapshots {
		list = append(list, s.Message.Attachments...)
	}
	if m.Referenced != nil {
		list = append(list, m.Referenced.Attachments...)
	}
	for _, a := range list {
		if a.ID == ref.file && a.URL != "" {
			return a.URL, nil
		}
	}
	return "", &channels.Error{Class: channels.Rejected, Err: errors.New("the message no longer has this file")}
}

// download reads a file from the host of files, which is not told the token.
func (c *Channel) download(ctx context.Context, at string, limit int64) ([]byte, int, error) {
	fail := func(class channels.Class, status int, text string, why error) ([]byte, int, error) {
		return nil, status, &channels.Error{Class: class, Err: &apiError{Call: "GET file", Status: status, Text: text, cause: why}}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return fail(channels.Rejected, 0, c.rest.redact(err), nil)
	}
	once := *c.client
	once.Timeout = 0
	resp, err := once.Do(req)
	if err != nil {
		return fail(channels.Transient, 0, c.rest.redact(err), channels.Cause(err, errTooLarge))
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		class := channels.Transient // what stands before the host of files says anything
		switch resp.StatusCode {
		case http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable:
			class = channels.Rejected
		case http.StatusTooManyRequests:
			class = channels.Limited
		}
		return fail(class, resp.StatusCode, http.StatusText(resp.StatusCode), nil)
	}
	data, err := channels.ReadAtMost(resp.Body, limit)
	if failed, bad := errors.AsType[*channels.Error](err); bad && failed.Class == channels.Transient {
		return fail(channels.Transient, 0, c.rest.redact(failed.Err), channels.Cause(err, errTooLarge))
	} else if bad {
		return nil, 0, err
	}
	return data, resp.StatusCode, nil
}
