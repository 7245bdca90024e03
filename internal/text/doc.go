// Package text prepares text that an agent, a file or a server wrote for a person's eyes.
//
// There are three ways, by where the text goes:
//
//	Drawable   cells of a screen that this program draws
//	ASCII      a line that goes to somebody's terminal, a log or a header
//	Readable   a value in a message, where letters of all scripts shall stay
//
// None of their results moves a cursor or hides a character. Those of Drawable and ASCII
// change no direction of writing either, and two different texts never look the same.
// OneLine, FirstLine and Clip shorten a text and escape nothing.
package text
