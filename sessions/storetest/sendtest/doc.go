// Package sendtest checks the deliveries of a sessions.Store: from the queue through the policy to their end, in parts and with retries.
//
// It stands right of fixture; storetest runs it. begin.go has the decision whether a send begins; end.go parts, retries and ends; queue.go what is due, counted,
// queued again or has a new address; newchats.go the quota of first contacts; preview.go the messages that show a run at work.
//
// It owns nothing. How a delivery follows a chat that moved is checked in chattest.
package sendtest
