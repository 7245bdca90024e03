// Package text prepares text from an agent, a file or a server to be shown to a person.
//
// There are three ways, depending on where the text goes:
//
//	Drawable   cells of a screen that this program draws
//	ASCII      a line that goes to somebody's terminal, a log or a header
//	Readable   a value in a message, where letters of all scripts must stay
//
// No result moves a cursor. The results of Drawable and ASCII hide no character and change
// no direction of writing, and two different texts never look the same. Readable keeps
// marks, letters of right-to-left scripts and a few invisible letters, so its results go
// through one of the others before they are shown beside a decision.
// Cluster is for prose in an agent's own tab: like Readable, but character by character. OneLine,
// FirstLine and Clip shorten a text and escape nothing. Fold is for comparing names.
//
// Near and DidYouMean propose the words that somebody may have meant, and Index searches as
// people expect. Number, Counted and Size format numbers.
package text
