// Package view draws the multiplexer's own part of the screen. It turns data into cells,
// and knows only what its callers hand to it of sessions and calls.
//
// A Surface is a rectangle of cells; text that is written to it is clipped to it. The
// model puts surfaces and the screens of visible panes into a Scene, and the Compositor
// draws the scene on the person's terminal, one frame at a time.
//
// The look is one, and every surface keeps to it:
//
//   - What is drawn stands on the terminal's own background, in its own color of text.
//   - Column 0 is the gutter. Words begin in column 1, and what is typed two further.
//   - The first row of a surface has words, then a thin line to the edge, or to the words at
//     the right. So have the tab bar and the status line. There are no boxes.
//   - A surface without such a row has a heavy line down the gutter. Its color says what it is:
//     the accent, what waits, or what has failed.
//   - Three weights: bold for headings and questions, plain, and muted for what can be missed.
//   - One accent, for names, titles, and as a fill for what is chosen. Amber is for what waits,
//     green and red for what went well or badly, and for lines added and removed.
//   - Only what is chosen and what waits is filled, in two colors of ours, one short label or row.
//   - No meaning has only a color: a mark or a word says it, too.
//   - Every text has a contrast of 4.5:1 or more to what it stands on, in every theme.
//
// Every string that an agent can influence passes through text.Drawable before it is
// drawn.
package view
