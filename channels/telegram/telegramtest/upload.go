package telegramtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // what Telegram reads as a photo
	_ "image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// File is a file that the bot sent.
type File struct {
	As   string // photo, video, audio, voice or document
	Name string // as it was uploaded; Telegram keeps none for photos and voice messages
	Data []byte
}

// maxUpload is the largest request that the real server takes.
const maxUpload = 50 << 20

// uploads are the files of a request by field.
type uploads map[string]File

// readUploads reads the files of a multipart request.
func readUploads(form *multipart.Form) (uploads, error) {
	if form == nil {
		return nil, nil
	}
	files := uploads{}
	for field, list := range form.File {
		f, err := list[0].Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		files[field] = File{Name: list[0].Filename, Data: data}
	}
	return files, nil
}

// name gives the parameters as the description of the API has them: files that no other parameter attaches stand for themselves.
func (u uploads) name(params url.Values) {
	for field := range u {
		if !strings.Contains(params.Get("media"), "attach://"+field) {
			params.Set(field, "(upload)")
		}
	}
}

func (u uploads) size() int {
	total := 0
	for _, f := range u {
		total += len(f.Data)
	}
	return total
}

// sendFile is sendPhoto, sendVideo, sendAudio, sendVoice, sendDocument and sendSticker.
func (s *Server) sendFile(kind string, p url.Values, files uploads) reply {
	f, given := files[kind]
	if !given {
		return *badRequest("there is no " + kind + " in the request")
	}
	f.As = kind
	wires, bad := s.post(p, []File{f}, []url.Values{p})
	if bad != nil {
		return *bad
	}
	return result(wires[0])
}

// sendMediaGroup sends an album.
func (s *Server) sendMediaGroup(p url.Values, files uploads) reply {
	var media []struct {
		Type, Media, Caption string
		Mode                 string `json:"parse_mode"`
	}
	if json.Unmarshal([]byte(p.Get("media")), &media) != nil {
		return *badRequest("can't parse media JSON object")
	}
	if len(media) < 2 || len(media) > 10 {
		return *badRequest("wrong number of media in the album")
	}
	var list []File
	var captions []url.Values
	families := map[string]bool{}
	for _, m := range media {
		f, given := files[strings.TrimPrefix(m.Media, "attach://")]
		if !given {
			return *badRequest("wrong file identifier/HTTP URL specified")
		}
		f.As = m.Type
		family := m.Type
		if family == "video" {
			family = "photo"
		}
		families[family] = true
		list = append(list, f)
		captions = append(captions, url.Values{"caption": {m.Caption}, "parse_mode": {m.Mode}})
	}
	if len(families) > 1 || families["voice"] {
		return *badRequest("documents and audio files can't be mixed with other media types in an album")
	}
	wires, bad := s.post(p, list, captions)
	if bad != nil {
		return *bad
	}
	return result(wires)
}

// post adds messages of the bot with files.
func (s *Server) post(p url.Values, files []File, captions []url.Values) ([]object, *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, thread, bad := s.writable(p)
	if bad != nil {
		return nil, bad
	}
	texts, links := make([]string, len(files)), make([][]string, len(files))
	for i, f := range files {
		if bad := f.check(); bad != nil {
			return nil, bad
		}
		if captions[i].Get("caption") == "" {
			continue
		}
		if texts[i], links[i], bad = visible(url.Values{"text": captions[i]["caption"], "parse_mode": captions[i]["parse_mode"]}, 1024); bad != nil {
			return nil, bad
		}
	}
	if bad := s.paced(c); bad != nil {
		return nil, bad
	}
	var wires []object
	for i, f := range files {
		m, wire, bad := s.compose(c, thread, p)
		if bad != nil {
			return nil, bad
		}
		m.Text, m.Raw, m.ParseMode, m.Files = texts[i], captions[i].Get("caption"), captions[i].Get("parse_mode"), []File{f}
		m.Links = links[i]
		s.attach(wire, f, fmt.Sprintf("sent-%d-%d", c.id, m.ID))
		if texts[i] != "" {
			wire["caption"] = texts[i]
		}
		if len(files) > 1 {
			wire["media_group_id"] = fmt.Sprint("album", c.lastID-int64(i))
		}
		s.keep(c, m, wire)
		wires = append(wires, wire)
	}
	return wires, nil
}

// attach describes a file in a message and lets getFile find it. The caller holds s.mu.
func (s *Server) attach(wire object, f File, id string) {
	if s.files == nil {
		s.files = map[string][]byte{}
	}
	s.files[id] = f.Data
	o := object{"file_id": id, "file_unique_id": "u" + id, "file_size": len(f.Data)}
	switch f.As {
	case "photo":
		o["width"], o["height"] = 1, 1
		wire["photo"] = []any{o}
		return
	case "document":
		o["file_name"] = f.Name
	case "video":
		o["file_name"], o["width"], o["height"], o["duration"] = f.Name, 1, 1, 1
	case "audio":
		o["file_name"], o["duration"] = f.Name, 1
	case "voice":
		o["duration"] = 1
	case "sticker":
		o["type"], o["width"], o["height"], o["is_animated"], o["is_video"] = "regular", 512, 512, false, false
	}
	wire[f.As] = o
}

// check refuses what the real server refuses.
func (f File) check() *reply {
	if len(f.Data) == 0 {
		return badRequest("file must be non-empty")
	}
	if f.As != "photo" {
		return nil
	}
	if len(f.Data) > 10<<20 {
		return badRequest("file is too big")
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(f.Data))
	if err != nil {
		return badRequest("IMAGE_PROCESS_FAILED")
	}
	if size.Width+size.Height > 10_000 || max(size.Width, size.Height) > 20*min(size.Width, size.Height) {
		return badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

// paced counts a message of the bot. The caller holds s.mu.
func (s *Server) paced(c *chat) *reply {
	if !s.pacing {
		return nil
	}
	wait := s.pace.exceeded(c.id, c.kind != "private", time.Now())
	if wait == 0 {
		return nil
	}
	r := failureWith(http.StatusTooManyRequests, fmt.Sprintf("Too Many Requests: retry after %d", wait), &parameters{RetryAfter: wait})
	return &r
}

// deleteMessage takes back a message of the bot.
func (s *Server) deleteMessage(p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, bad := s.target(p)
	if bad != nil {
		return *bad
	}
	i := slices.IndexFunc(s.sent, func(m Message) bool { return m.Chat == c.id && fmt.Sprint(m.ID) == p.Get("message_id") })
	if i < 0 {
		return *badRequest("message to delete not found")
	}
	if time.Since(s.sent[i].At) > 48*time.Hour {
		return *badRequest("message can't be deleted for everyone")
	}
	delete(c.messages, s.sent[i].ID)
	s.sent = slices.Delete(s.sent, i, i+1)
	s.notify()
	return ok(json.RawMessage("true"))
}
