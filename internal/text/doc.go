// Package text prepares text that an agent, a file or a server wrote for a person's eyes.
//
// There are three ways, by where the text goes:
//
//	Drawable   cells of a screen that this program draws
//	ASCII      a line that goes to somebody's terminal, a log or a header
//	Readable   a value in a message, where letters of all scripts shall stay
//
// None of their results moves a cursor. Those of Drawable and ASCII hide no character and
// change no direction of writing, and two different texts never look the same. Readable
// keeps marks, letters of right-to-left scripts and a few letters that show nothing: what
// it returns goes through one of the others before it is shown beside a decision.
// OneLine, FirstLine and Clip shorten a text and escape nothing.
package text
