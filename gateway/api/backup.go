package api

// BackupQuery says what a backup has in it.
type BackupQuery struct {
	Media bool `query:"media" jsonschema:"with the files that people sent"`
}
