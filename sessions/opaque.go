package sessions

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Readable returns the message as everybody but a provider reads it: without Opaque, without the signatures and the encrypted reasoning
// that earlier versions kept in blocks, and without thinking that has no text. m stays as it is.
func (m Message) Readable() Message {
	if !slices.ContainsFunc(m.Content, Block.isOpaque) {
		return m
	}
	content := make([]Block, 0, len(m.Content))
	for _, b := range m.Content {
		if b.Type == ThinkingBlock && b.Text == "" {
			continue
		}
		b.Signature, b.Opaque = nil, nil
		if b.Type == ThinkingBlock {
			b.Data = ""
		}
		content = append(content, b)
	}
	m.Content = content
	return m
}

// OldSignature reads Signature; "" = none.
func (b *Block) OldSignature() string {
	if b.Signature == nil {
		return ""
	}
	return *b.Signature
}

// isOpaque reports whether a block has something that only its provider reads.
func (b Block) isOpaque() bool {
	return b.Opaque != nil || b.Signature != nil || b.Type == ThinkingBlock && (b.Data != "" || b.Text == "")
}

// BoundOpaque returns the message as a store keeps it, and the bytes of the Data that was dropped: all of it where there is more than
// MaxOpaque, or where some of it is no JSON. From stays. m stays as it is.
func (m Message) BoundOpaque() (_ Message, dropped int) {
	size, valid := 0, true
	for _, b := range m.Content {
		if b.Opaque != nil && len(b.Opaque.Data) > 0 {
			size += len(b.Opaque.Data)
			valid = valid && size <= MaxOpaque && utf8.Valid(b.Opaque.Data) && json.Valid(b.Opaque.Data)
		}
	}
	if valid {
		return m, 0
	}
	m.Content = slices.Clone(m.Content)
	for i, b := range m.Content {
		if b.Opaque != nil {
			m.Content[i].Opaque = &Opaque{From: b.Opaque.From}
		}
	}
	return m, size
}
