// Package configfile finds the configuration file that applies, the variables beside it and the state folder, before anything of the file is understood.
//
// It stands left of config, which reads what is in the file, and imports only filesystem. Here is decided whether the config.yaml of the working folder
// counts: the user must trust the folder, and no other user may be able to write the file, its variables or the way to them.
//
// It owns one file in the user's own folder, the list of trusted folders, which Trust and Distrust replace as a whole. It takes no lock and starts nothing.
//
// Errors: *Untrusted for a file that does not count; ErrTooLarge and those of the system for one that cannot be read. No error repeats a line of the
// variables, which may be a secret.
package configfile
