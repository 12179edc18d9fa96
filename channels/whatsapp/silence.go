package whatsapp

import "go.mau.fi/libsignal/logger"

// The cryptography that whatsmeow uses prints to standard output unless it is told otherwise, in a variable that every message reads:
// so it is told before there is any. It says nothing that whatsmeow does not say, that a message could not be decrypted.
var _ = silenceSignal()

func silenceSignal() logger.Loggable {
	logger.Logger = noLog{}
	return logger.Logger
}

type noLog struct{}

func (noLog) Debug(string, string)   {}
func (noLog) Info(string, string)    {}
func (noLog) Warning(string, string) {}
func (noLog) Error(string, string)   {}
func (noLog) Configure(string)       {}
