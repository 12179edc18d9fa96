package api

// BackupQuery says what a backup has in it.
type BackupQuery struct {
	Media bool `query:"media" jsonschema:"include the files of messages"`
}
