package filestore

import (
	"slices"
	"time"
)

// MaxPicture bounds one picture.
const MaxPicture = 5 << 20 // bytes of one; the providers take no more

// PictureTimeout bounds the fetches of a prompt's pictures.
const PictureTimeout = 20 * time.Second // for all of a prompt

// IsPicture reports whether models can look at files of this type.
func IsPicture(mime string) bool {
	return slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, mime)
}
