package whatsapptest

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"time"

	"go.mau.fi/libsignal/session"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// Replay sends old messages of somebody to the account's linked devices, as its phone does after a device was linked: as a file, and
// a message that tells of it. It returns when the server has them.
func (p *Phone) Replay(from *Person, texts ...string) {
	p.s.t.Helper()
	if err := p.replay(from, texts); err != nil {
		p.s.t.Errorf("whatsapptest: history: %v", err)
	}
}

func (p *Phone) replay(from *Person, texts []string) error {
	chat := &waHistorySync.Conversation{ID: proto.String(from.lid.String())}
	start := time.Now().Add(-24 * time.Hour)
	for i, text := range texts {
		chat.Messages = append(chat.Messages, &waHistorySync.HistorySyncMsg{Message: &waWeb.WebMessageInfo{
			Key:     &waCommon.MessageKey{RemoteJID: proto.String(from.lid.String()), FromMe: proto.Bool(false), ID: proto.String(fmt.Sprintf("3EB0OLD%09d", i))},
			Message: &waE2E.Message{Conversation: &text}, MessageTimestamp: proto.Uint64(uint64(start.Add(time.Duration(i) * time.Second).Unix())),
		}})
	}
	raw, err := proto.Marshal(&waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_RECENT.Enum(), Conversations: []*waHistorySync.Conversation{chat}, Progress: proto.Uint32(100)})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err = z.Write(raw)
	if err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	cli := p.Owner().client()
	if cli == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	u, err := cli.Upload(ctx, packed.Bytes(), whatsmeow.MediaHistory)
	if err != nil {
		return err
	}
	note := &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(), HistorySyncNotification: &waE2E.HistorySyncNotification{
		FileSHA256: u.FileSHA256, FileLength: &u.FileLength, MediaKey: u.MediaKey, FileEncSHA256: u.FileEncSHA256, DirectPath: &u.DirectPath,
		SyncType: waE2E.HistorySyncType_RECENT.Enum(), ChunkOrder: proto.Uint32(1), Progress: proto.Uint32(100),
	}}}
	for _, to := range p.linked() {
		if err := introduce(ctx, cli, to); err != nil {
			return err
		}
		if _, err := cli.SendMessage(ctx, to, note, whatsmeow.SendRequestExtra{Peer: true}); err != nil {
			return err
		}
	}
	return nil
}

// introduce makes keys with a linked device, which a real phone does when it links it. The library leaves that out for messages
// between devices of one account.
func introduce(ctx context.Context, cli *whatsmeow.Client, to types.JID) error {
	if known, err := cli.Store.ContainsSession(ctx, to.SignalAddress()); known || err != nil {
		return err
	}
	bundle := cli.DangerousInternals().FetchPreKeysNoError(ctx, []types.JID{to})[to] //nolint:staticcheck // a phone does what the library keeps to itself
	if bundle == nil {
		return fmt.Errorf("no keys of %s", to)
	}
	return session.NewBuilderFromSignal(cli.Store, to.SignalAddress(), store.SignalProtobufSerializer).ProcessBundle(ctx, bundle)
}

// linked gives the ids of the account's linked devices.
func (p *Phone) linked() []types.JID {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var all []types.JID
	for id, d := range p.devices {
		if id != 0 {
			all = append(all, d.lidJID())
		}
	}
	return all
}
