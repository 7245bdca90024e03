// Package copymode is copy mode: a cursor that moves over the lines of a tab, scrollback
// included, while its agent runs on; selections, searches, and the scrollback as text for
// an editor.
//
// State is the whole state of copy mode. Its method Key takes a key and returns what the
// model has to do.
package copymode
