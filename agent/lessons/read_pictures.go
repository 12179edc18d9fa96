package lessons

import (
	"net/http"
	"slices"

	"parley/channels/pattern"
	"parley/sessions"
)

var (
	pictureWord = pattern.New(`\bimages?\b|图片|图像|\bbild(?:er\w*|eingab\w*|dat\w*|inhalt\w*|verarbeit\w*)?\b|im[aá]gen(?:es)?|\bimagem\b|\bimmagin[ei]\b|изображени|картинк|画像|이미지|image_url|input_image|vision|multi-?modal|\bpictures?\b|mmproj|must be a string|expected a string|valid string|string type|str type|of type string|unknown variant|content type|content\.type|content part|inline_?data|non-text|text.only`)
	onePicture  = pattern.New(`do(?:es)? not meet|restrictions|cannot identify|could not (?:be )?(?:load|open|identif)|too small|minimum|\d ?px\b|\bheight\b|\bwidth\b|animated|file type|media type|格式|解析错误|尺寸|could not process|corrupt|decod|invalid (image|base64)|base64|too large|too big|exceeds|dimension|resolution|media_type|mime|format|pixels|download|fetch|unable to process|failed to (load|process|read)|truncated|image.{0,30}(is not valid|not a valid)|not a valid image|invalid_image`)
)

// noPictures is in errors of models that take none.
var noPictures = pattern.New(`does not support|not support image|support image input|unknown variant|at most 0 |valid string|\bimages?(?: inputs?)? (?:is|are) not supported\b|use a (?:vision|multimodal)`)

// readPicture reads errors about one picture, not about pictures at all.
func readPicture(r reading) (sessions.Lesson, bool) {
	ofMedia := r.f.Status == http.StatusUnsupportedMediaType && !pictureWord.MatchString(r.text) // of all that a request has, only pictures have one
	if len(r.sent.Pictures) == 0 || !ofMedia && (!pictureWord.MatchString(r.text) || !onePicture.MatchString(r.text) || noPictures.MatchString(r.text)) {
		return sessions.Lesson{}, false
	}
	return readNewestPicture(r)
}

// readNewestPicture leaves the newest picture out that was sent, or all where several were refused and none was taken.
func readNewestPicture(r reading) (sessions.Lesson, bool) {
	if r.call.takesNoPicture() {
		return sessions.Lesson{Kind: Images}, true
	}
	for _, data := range slices.Backward(r.sent.Pictures) {
		if h := Hash(data); !r.call.Off(Images, h) {
			return sessions.Lesson{Kind: Images, Name: h}, true
		}
	}
	return sessions.Lesson{}, false
}

// ofPixels is in errors about the size of a picture.
var ofPixels = pattern.New(`\bpixels?\b|\bpx\b|\b\d{2,6} ?[x×] ?\d{2,6}\b|dimension|resolution`)

// containerWord is in errors about the image that a server's program runs from.
var containerWord = pattern.New(`image pull|pull(?:ing)? (?:the )?image|container image|docker`)

func readPictures(r reading) (sessions.Lesson, bool) {
	if !pictureWord.MatchString(r.text) || containerWord.MatchString(r.text) || !r.refuses() && !denied.MatchString(r.text) && (r.f.Status < 400 || r.f.Status >= 500) {
		return sessions.Lesson{}, false
	}
	if r.sent.ToolImages && !r.call.Off(ToolImages, "") {
		return sessions.Lesson{Kind: ToolImages}, true
	}
	if len(r.sent.Pictures) == 0 {
		return sessions.Lesson{}, false
	}
	if r.call.taken.images { // it took others
		return readNewestPicture(r)
	}
	return sessions.Lesson{Kind: Images}, true
}
