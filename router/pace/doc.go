// Package pace holds back messages so that no account sends faster than its platform allows: per account, per chat and per group.
//
// It stands left of delivery, which makes one Pacer for each account. The figures are data: channels.Pacing, from the configuration, with defaults in
// cmd/internal/tables. What a platform answers to a message that came too fast is a class of channels.Error, and delivery waits for it. The bound on new chats
// a day is not here: settings.FirstContactQuota computes it, and BeginSend applies it.
//
// A Pacer owns the token buckets of its account and of its chats, in memory: after a start they are full. Its mutex is a leaf. Wait blocks its caller; no goroutine is
// started. The only error is that of a context that ended.
package pace
