package whatsapptest

import (
	"context"
	"crypto/cipher"
	"errors"

	"github.com/coder/websocket"
)

// frameConn is a websocket that carries frames with their length in front, sealed once the handshake is done.
type frameConn struct {
	ws     *websocket.Conn
	buf    []byte
	send   cipher.AEAD
	recv   cipher.AEAD
	sn, rn uint64
}

func (c *frameConn) readRaw(ctx context.Context, header int) (hdr, frame []byte, err error) {
	need := header + 3
	for {
		if len(c.buf) >= need {
			l := int(c.buf[header])<<16 | int(c.buf[header+1])<<8 | int(c.buf[header+2])
			if len(c.buf) >= need+l {
				hdr = c.buf[:header]
				frame = c.buf[need : need+l]
				c.buf = append([]byte(nil), c.buf[need+l:]...)
				return hdr, frame, nil
			}
		}
		typ, d, err := c.ws.Read(ctx)
		if err != nil {
			return nil, nil, err
		}
		if typ != websocket.MessageBinary {
			return nil, nil, errors.New("text frame")
		}
		c.buf = append(c.buf, d...)
	}
}

func (c *frameConn) writeRaw(ctx context.Context, d []byte) error {
	out := append([]byte{byte(len(d) >> 16), byte(len(d) >> 8), byte(len(d))}, d...)
	return c.ws.Write(ctx, websocket.MessageBinary, out)
}

func (c *frameConn) read(ctx context.Context) ([]byte, error) {
	_, f, err := c.readRaw(ctx, 0)
	if err != nil {
		return nil, err
	}
	p, err := c.recv.Open(nil, nonce(c.rn), f, nil)
	c.rn++
	return p, err
}

// write writes n equal frames as one message of the websocket.
func (c *frameConn) write(ctx context.Context, p []byte, n int) error {
	var out []byte
	for range n {
		ct := c.send.Seal(nil, nonce(c.sn), p, nil)
		c.sn++
		out = append(append(out, byte(len(ct)>>16), byte(len(ct)>>8), byte(len(ct))), ct...)
	}
	return c.ws.Write(ctx, websocket.MessageBinary, out)
}
