package filestore

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// maxResultFiles is how many files of one tool result are kept.
const maxResultFiles = 16

// PutResult puts the files of a tool's result where those of messages are kept, before anything names them: a block says where its file
// is instead of holding its bytes, so that neither the transcript nor a prompt grows with them. What a file is follows from its bytes. A
// file that cannot be kept is a line of the result's text.
func (x *Cache) PutResult(res *tools.Result) {
	blocks := res.Blocks
	res.Blocks = nil
	for i, b := range blocks {
		if b.Data == "" {
			res.Blocks = append(res.Blocks, b)
			continue
		}
		kept, err := x.putBlock(b, i)
		if err != nil {
			x.log.Warn("cannot keep a file of a tool result", keyErr, err)
			res.Text += fmt.Sprintf("\n[the host did not keep attachment %s: %v]", b.ID, err)
			continue
		}
		res.Blocks = append(res.Blocks, kept)
	}
}

// putBlock keeps the bytes of one block; n is its place in the result.
func (x *Cache) putBlock(b sessions.Block, n int) (sessions.Block, error) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	switch {
	case err != nil:
		return b, fmt.Errorf("decode the bytes of the file: %w", err)
	case x.dir == "":
		return b, fmt.Errorf("this host has no folder for files")
	case n >= maxResultFiles:
		return b, fmt.Errorf("a result has at most %d files", maxResultFiles)
	}
	m := channels.Media{MIME: b.MIME}
	if b.Media != nil {
		m.Name, m.MIME = b.Media.Name, b.Media.MIME
	}
	kind, is := kindOf(data, m.Name)
	if m.Kind = kind; is != "application/octet-stream" || m.MIME == "" {
		m.MIME = is
	}
	b.Type, b.MIME, b.Data, b.Media = sessions.FileBlock, "", "", &m
	if shown, _, _ := strings.Cut(http.DetectContentType(data), ";"); IsPicture(shown) && len(data) <= MaxPicture {
		b.Type, b.MIME, m.MIME = sessions.ImageBlock, shown, shown
	}
	if err := x.PutBytes(&m, data); err != nil {
		x.log.Debug("cannot keep a file", keyErr, err)
		return b, fmt.Errorf("the host could not write the file")
	}
	return b, nil
}
