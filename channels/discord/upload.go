package discord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/channels"
)

// uploadRate is the slowest connection that an upload is waited for with, in bytes a second.
const uploadRate = 512 << 10

// upload is the body of a call that carries files: several parts, of which the first is the JSON. The files are read while they are
// sent, so that none is held in memory.
type upload struct {
	io.Reader
	mime   string
	length int64 // -1 = not known
	limit  time.Duration
	files  []io.Closer
	once   sync.Once
	broken atomic.Pointer[channels.Error] // why a file could not be read to its end
}

// newUpload opens the files of a message.
func newUpload(head []byte, files []channels.File) (u *upload, err error) {
	u = &upload{limit: callTimeout}
	defer func() {
		if err != nil {
			_ = u.Close()
		}
	}()
	var parts []io.Reader
	var text bytes.Buffer
	add := func(r io.Reader, n int64) {
		if parts = append(parts, r); n < 0 || u.length < 0 {
			u.length = -1
		} else {
			u.length += n
		}
	}
	cut := func() { // what the form has written so far
		add(strings.NewReader(text.String()), int64(text.Len()))
		text.Reset()
	}
	form := multipart.NewWriter(&text)
	_, _ = form.CreatePart(header(`form-data; name="payload_json"`, "application/json")) // a buffer takes all
	text.Write(head)
	for i, f := range files {
		if f.Size > fileBytes {
			return u, &fileError{f.Name, errFileTooLarge}
		}
		r, err := f.Open()
		if err != nil {
			return u, &fileError{f.Name, err}
		}
		u.files = append(u.files, r)
		kind := f.MIME
		if kind == "" {
			kind = "application/octet-stream"
		}
		_, _ = form.CreatePart(header(`form-data; name="files[`+strconv.Itoa(i)+`]"; filename="`+quoted.Replace(f.Name)+`"`, kind))
		cut()
		size, left := f.Size, f.Size
		if size <= 0 {
			size, left = -1, fileBytes
		}
		add(&fileReader{u: u, r: r, name: f.Name, known: size > 0, left: left}, size)
		u.limit += time.Duration(left) * time.Second / uploadRate
	}
	_ = form.Close()
	cut()
	u.Reader, u.mime = io.MultiReader(parts...), form.FormDataContentType()
	return u, nil
}

var (
	quoted          = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "_", "\n", "_")
	errFileTooLarge = fmt.Errorf("it is larger than Discord's limit of %d bytes", fileBytes)
)

func header(disposition, kind string) textproto.MIMEHeader {
	return textproto.MIMEHeader{"Content-Disposition": {disposition}, "Content-Type": {kind}}
}

// Close closes the files; the transport may still be reading one.
func (u *upload) Close() error {
	u.once.Do(func() {
		for _, f := range u.files {
			_ = f.Close()
		}
	})
	return nil
}

// fileReader is one file of an upload: as many bytes as were said, or at most as many as the platform takes.
type fileReader struct {
	u     *upload
	r     io.Reader
	name  string
	known bool
	left  int64
}

func (f *fileReader) Read(p []byte) (int, error) {
	if int64(len(p)) > f.left {
		p = p[:max(f.left, 1)] // one more shows that there is more
	}
	n, err := f.r.Read(p)
	switch {
	case int64(n) > f.left && f.known:
		return 0, f.fail(channels.Rejected, errors.New("it grew during the upload"))
	case int64(n) > f.left:
		return 0, f.fail(channels.Rejected, errFileTooLarge)
	}
	f.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && f.known && f.left > 0:
		return n, f.fail(channels.Rejected, errors.New("it became shorter during the upload"))
	case err != nil && !errors.Is(err, io.EOF):
		return n, f.fail(channels.Transient, err)
	}
	return n, err
}

// fail ends the call: what was sent of it is incomplete, so the platform made nothing of it.
func (f *fileReader) fail(class channels.Class, why error) error {
	err := &channels.Error{Class: class, Err: &fileError{f.name, why}}
	f.u.broken.CompareAndSwap(nil, err)
	return err
}

// fileError says that one file of a message cannot be sent.
type fileError struct {
	name string
	why  error
}

func (e *fileError) Error() string { return fmt.Sprintf("file %q: %v", e.name, e.why) }

func (e *fileError) Unwrap() error { return e.why }

// outgoing makes the body of a call. With files its caller has to make the call, which closes them.
func outgoing(b body, files []channels.File) (request, error) {
	if len(files) == 0 {
		return request{body: b}, nil
	}
	reject := func(err error) (request, error) {
		return request{}, &channels.Error{Class: channels.Rejected, Err: err}
	}
	if len(files) > fileLimit {
		return reject(fmt.Errorf("%d files in one message; Discord accepts %d", len(files), fileLimit))
	}
	head, err := json.Marshal(b)
	if err != nil {
		return reject(err)
	}
	u, err := newUpload(head, files)
	if err != nil {
		return reject(err)
	}
	return request{upload: u, limit: u.limit}, nil
}
