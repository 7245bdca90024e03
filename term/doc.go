// Package term is the terminal inside a tab. A program's bytes go in, a screen
// of cells comes out, and the answers a terminal owes the program (cursor
// reports, device attributes, colors) wait to be sent back to it. Nothing a
// program writes ever reaches the person's own terminal as bytes: painters read
// cells.
//
// Screen is the door, safe for many goroutines. Behind it the emulator reads
// bytes (parser, decode, control), prints text (print, cluster, width), moves,
// erases and scrolls, within margins of rows and columns, changes rectangles, and
// keeps modes and the colors that the program chose (owncolors), which frames show. It
// claims to be a VT420 and does what xterm does. It changes cells only through the small
// grid interface, over which there are two stores: native cells, the default, and
// hinshun/vt10x; each is the other's oracle in a differential fuzz test. Cells
// hold numbers of styles and clusters, whose tables are swept. Lines that leave
// the top of the screen are packed (pack, unpack, history) into a form that needs
// no table, and wrapped anew when the width changes (resize, rewrap). A painter
// takes a Frame, which Snapshot brings up to date line by line.
//
// Everything that a program can make grow is bounded, every panic is contained,
// and the same bytes give the same screen however they are cut.
//
// PTY runs a program of this host. Package term/keys is the way back: it decodes
// what the person's terminal sends and encodes it for the modes that the program
// asked for.
package term
