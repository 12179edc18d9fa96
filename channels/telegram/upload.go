package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// uploadRate is the slowest connection that an upload is waited for with, in bytes a second.
const uploadRate = 128 << 10

// upload makes a call that carries files. They are read while they are sent, so that none is held in memory. fields names the
// field of each file.
func (a api) upload(ctx context.Context, client *http.Client, method string, params tgbotapi.Params, fields []string, files []channels.File) (json.RawMessage, error) {
	limit := callTimeout
	parts := make([]tgbotapi.RequestFile, len(files))
	var readers opened
	defer readers.close()
	for i, f := range files {
		limit += time.Duration(f.Size) * time.Second / uploadRate
		parts[i] = tgbotapi.RequestFile{Name: fields[i], Data: uploadPart{f, &readers}}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	x := &exchange{ctx: ctx, client: client}
	bot := tgbotapi.BotAPI{Token: a.token, Client: x}
	bot.SetAPIEndpoint(a.endpoint)
	resp, err := bot.UploadFiles(method, params, parts)
	if err != nil {
		return nil, a.classify(method, x, err)
	}
	return resp.Result, nil
}

// uploadPart is one file of an upload as the library takes it.
type uploadPart struct {
	file    channels.File
	readers *opened
}

func (uploadPart) NeedsUpload() bool { return true }
func (uploadPart) SendData() string  { return "" }

func (p uploadPart) UploadData() (string, io.Reader, error) {
	r, err := p.readers.open(p.file)
	return p.file.Name, r, err
}

// opened are the files that an upload reads. The library reads them in a goroutine of its own, which may outlive the call, and
// closes none after an error.
type opened struct {
	mu   sync.Mutex
	done bool
	all  []io.Closer
}

func (o *opened) open(f channels.File) (io.Reader, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return nil, errors.New("the call has ended")
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	o.all = append(o.all, r)
	return struct{ io.Reader }{r}, nil // the library would close it as well
}

func (o *opened) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = true
	for _, r := range o.all {
		_ = r.Close()
	}
}
