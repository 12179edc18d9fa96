package channeltest

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"parley/channels"
)

// read takes an Outbound as a platform would: its files as a whole, nothing beyond the limits.
func (f *Fake) read(out channels.Outbound) (sent []SharedFile, err error) {
	refuse := func(format string, a ...any) ([]SharedFile, error) {
		return sent, &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("fake: "+format, a...)}
	}
	l := f.opts.Limits
	n, fits := length(out.Text, l)
	switch {
	case !fits:
		return refuse("message of %d is too long", n)
	case len(out.Files) > l.Files:
		return refuse("%d files, %d are allowed", len(out.Files), l.Files)
	case len(out.Files) > 0 && n > l.Caption:
		return refuse("caption of %d, %d are allowed", n, l.Caption)
	case len(out.Files) == 0 && out.Text == "":
		return refuse("an empty message")
	}
	for _, file := range out.Files {
		r, err := file.Open()
		if err != nil {
			return refuse("file %s: %w", file.Name, err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return refuse("file %s: %w", file.Name, err)
		}
		if int64(len(data)) != file.Size || l.FileBytes > 0 && file.Size > l.FileBytes {
			return refuse("file %s of %d bytes, said to have %d; %d are allowed", file.Name, len(data), file.Size, l.FileBytes)
		}
		sent = append(sent, SharedFile{file.Kind, file.Name, file.MIME, data})
	}
	return sent, nil
}

// Restore puts messages there that were sent before, with their ids, as another fake has shown them: the platform outlives the process.
func (f *Fake) Restore(shown ...Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.shown = append(f.calls, shown...), append(f.shown, shown...)
	for _, c := range shown {
		if n, err := strconv.ParseInt(strings.TrimPrefix(string(c.Receipt.ID), "out-"), 10, 64); err == nil {
			f.nextID = max(f.nextID, n)
		}
	}
	f.notify()
}
