package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// Fetch implements channels.Fetcher: getFile says where a file is (the Bot API gives bots files of up to 20 MB), a second request
// reads it.
func (c *Channel) Fetch(ctx context.Context, m channels.Media, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if m.Size > limit {
		return nil, tooLarge(m.Size, limit)
	}
	raw, err := c.api.call(ctx, c.sends, callTimeout, "getFile", tgbotapi.Params{"file_id": m.Ref})
	if err != nil {
		return nil, err
	}
	var file struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	if err := json.Unmarshal(raw, &file); err != nil || file.Path == "" {
		return nil, &channels.Error{Class: channels.Transient, Err: &apiError{Method: "getFile", Description: "the answer names no file"}}
	}
	if file.Size > limit {
		return nil, tooLarge(file.Size, limit)
	}
	return c.api.file(ctx, c.sends, file.Path, limit)
}

func tooLarge(size, limit int64) error {
	return &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("the file has %d bytes, at most %d are read", size, limit)}
}

// file reads a file by the path that getFile gave.
func (a api) file(ctx context.Context, client *http.Client, where string, limit int64) ([]byte, error) {
	const method = "file"
	if path.Clean("/"+where) != "/"+where {
		return nil, &channels.Error{Class: channels.Rejected, Err: &apiError{Method: method, Description: "the path of the file makes no sense"}}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/file/bot"+a.token+"/"+where, nil)
	if err != nil {
		return nil, &channels.Error{Class: channels.Rejected, Err: &apiError{Method: method, Description: a.redact(err)}}
	}
	once := *client
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token is in the address
	resp, err := once.Do(req)
	if err != nil {
		return nil, &channels.Error{Class: channels.Transient, Err: &apiError{Method: method, Description: a.redact(err), cause: cause(err)}}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		class := classOf(method, resp.StatusCode, "")
		if class == channels.Ambiguous { // reading has no effect
			class = channels.Transient
		}
		return nil, &channels.Error{Class: class, Err: &apiError{Method: method, Code: resp.StatusCode, Description: http.StatusText(resp.StatusCode)}}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, &channels.Error{Class: channels.Transient, Err: &apiError{Method: method, Description: a.redact(err), cause: cause(err)}}
	case int64(len(body)) > limit:
		return nil, &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("the file is larger than the %d bytes that are read", limit)}
	}
	return body, nil
}
