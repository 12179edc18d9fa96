package sessions

import "parley/channels"

// Login is an account as its platform knows it.
type Login struct {
	Channel    channels.Kind
	Account    channels.AccountID
	User       channels.UserID      // who the account is on the platform
	Configured []channels.AccountID // all accounts that the configuration has on the channel
}

// Identified says what the store knew of a login under other names.
type Identified struct {
	Moved []channels.AccountID // accounts that this one took the place of, now or before
	Twice []channels.AccountID // configured accounts that are the same login; nothing has moved
	// Configured accounts that the login was, or is: what was denied there is denied here too, since just now. Nothing else has moved.
	Denied []channels.AccountID
}

// Rename says that an account took the place of another one.
type Rename struct {
	Channel  channels.Kind
	Was, Now channels.AccountID
}
