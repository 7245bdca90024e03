// Package view draws the multiplexer's own part of the screen. It turns data into cells, and knows
// nothing of sessions and calls except the data that its callers pass.
//
// A Surface is a rectangle of cells; text that is written to it is clipped to it. The
// model puts surfaces and the screens of visible panes into a Scene, and the Compositor
// draws the scene on the person's terminal, one frame at a time.
//
// Every surface follows the same rules of style:
//
//   - Text is drawn on the terminal's own background, in the terminal's own text color.
//   - Column 0 is the gutter. Words begin in column 1, and typed text two columns further.
//   - The first row of a surface has words, then a thin line to the edge, or to the words at
//     the right. The tab bar and the status line are such rows, too. There are no boxes.
//   - A surface without such a row has a heavy line down the gutter. The line's color says what
//     the surface is: the accent, amber for something that waits, or red for a failure.
//   - There are three weights: bold for headings and questions, plain, and muted for text that a
//     person can miss.
//   - There is one accent, for names, titles, and as the background of the chosen row. Amber is
//     for things that wait, green and red for success and failure, and for added and removed lines.
//   - Only chosen and waiting things have a background of our own, and only on a short label or
//     one row.
//   - No meaning is expressed by color alone: a mark or a word expresses it, too.
//   - Every text has a contrast of 4.5:1 or more to its background, in every theme.
//
// Every string that an agent can influence passes through text.Drawable before it is
// drawn.
package view
