// Package copymode is copy mode: a cursor that moves over the lines of a tab, scrollback
// included, while its agent runs on; selections, searches, and the scrollback as a text
// for an editor.
//
// State is all of it. A key goes in, and what is left for the model to do comes out.
package copymode
