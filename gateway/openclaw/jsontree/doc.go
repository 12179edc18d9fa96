// Package jsontree reads and changes values of a decoded configuration: objects (map[string]any), lists ([]any) and scalars. A place is the names and
// numbers that lead to a value.
//
// It imports nothing of ours and stands left of source and convert. It keeps nothing; what is not there, or has another shape, is nil, "" or false.
package jsontree
