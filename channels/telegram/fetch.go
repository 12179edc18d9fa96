package telegram

import (
	"context"
	"encoding/json"
	"errors"
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
		return nil, channels.TooLarge(m.Size, limit)
	}
	raw, err := c.calls.ofBot(ctx, c.calls.sends, callTimeout, "getFile", tgbotapi.Params{"file_id": m.Ref})
	if err != nil {
		return nil, err
	}
	var file struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"`
	}
	if err := json.Unmarshal(raw, &file); err != nil || file.Path == "" {
		return nil, &channels.Error{Class: channels.Transient, Err: &apiError{Method: "getFile", Description: "the answer has no file path"}}
	}
	if file.Size > limit {
		return nil, channels.TooLarge(file.Size, limit)
	}
	return c.calls.api.file(ctx, c.calls.sends, file.Path, limit)
}

// file reads a file by the path that getFile gave.
func (a api) file(ctx context.Context, client *http.Client, where string, limit int64) ([]byte, error) {
	const method = "file"
	if path.Clean("/"+where) != "/"+where {
		return nil, &channels.Error{Class: channels.Rejected, Err: &apiError{Method: method, Description: "the file's path is invalid"}}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/file/bot"+a.token+"/"+where, nil)
	if err != nil {
		return nil, &channels.Error{Class: channels.Rejected, Err: &apiError{Method: method, Description: channels.Redact(err, a.hide)}}
	}
	once := *client
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token is in the address
	resp, err := once.Do(req)
	if err != nil {
		return nil, &channels.Error{Class: channels.Transient, Err: &apiError{Method: method, Description: channels.Redact(err, a.hide), cause: channels.Cause(err)}}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, a.fileRefused(resp)
	}
	body, err := channels.ReadAtMost(resp.Body, limit)
	if failed, broke := errors.AsType[*channels.Error](err); broke && failed.Class == channels.Transient {
		err = &channels.Error{Class: channels.Transient, Err: &apiError{Method: method, Description: channels.Redact(failed.Err, a.hide), cause: channels.Cause(err)}}
	}
	return body, err
}

// fileRefused is what an answer without the file means. Reading has no effect, so whatever is unclear may be tried again.
func (a api) fileRefused(resp *http.Response) error {
	const method, longest = "file", 64 << 10
	body, _ := io.ReadAll(io.LimitReader(resp.Body, longest))
	var said struct {
		Code int    `json:"error_code"`
		Text string `json:"description"`
	}
	if json.Unmarshal(body, &said) != nil || said.Code == 0 {
		return &channels.Error{Class: channels.Transient, Err: &apiError{Method: method, Description: foreign(resp.StatusCode)}}
	}
	class := classOf(method, said.Code, said.Text)
	if class == channels.Ambiguous {
		class = channels.Transient
	}
	return &channels.Error{Class: class, Err: &apiError{Method: method, Code: said.Code, Description: a.hide.Replace(channels.CleanText(said.Text))}}
}
