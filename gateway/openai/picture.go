package openai

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// pictureURL is the address of a picture: a text in a response's input, an object in a message of a chat completion.
type pictureURL string

// UnmarshalJSON takes both forms.
func (u *pictureURL) UnmarshalJSON(text []byte) error {
	var object struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(text, (*string)(u)) == nil {
		return nil
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return bad("image_url", "image_url: must be a text, or an object with url")
	}
	*u = pictureURL(object.URL)
	return nil
}

// picture gives the bytes of a part that is a picture. Only what is in the request itself is taken: a host that fetches addresses which
// others name can be sent into its own network.
func (p contentPart) picture() ([]byte, error) {
	switch {
	case p.File != "":
		return nil, unsupported("file_id", "file_id: parley stores no files; put the image into image_url as data:image/png;base64,…")
	case p.Picture == "":
		return nil, bad("image_url", "image_url is missing: it must hold the image, as data:image/png;base64,…")
	}
	scheme, rest, _ := strings.Cut(string(p.Picture), ":")
	if !strings.EqualFold(scheme, "data") {
		return nil, unsupported("image_url", "image_url: parley does not fetch URLs; put the image itself there, as data:image/png;base64,…")
	}
	head, body, found := strings.Cut(rest, ",")
	if !found || !strings.HasSuffix(strings.ToLower(head), ";base64") {
		return nil, bad("image_url", "image_url: write the image as data:image/png;base64,…")
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		if data, err = base64.RawStdEncoding.DecodeString(body); err != nil {
			return nil, bad("image_url", "image_url: the data is not valid base64")
		}
	}
	return data, nil
}
