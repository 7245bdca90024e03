// Package term is the terminal inside a tab. It reads a program's bytes and keeps a
// screen of cells. It also queues the answers that a terminal sends to the program (cursor
// reports, device attributes, colors). A program's bytes never reach the person's own
// terminal, because painters read cells.
//
// Screen is the package's main type and safe for concurrent use. Its emulator reads
// bytes (parser, decode, control), prints text (print, cluster, width), moves, erases
// and scrolls within margins of rows and columns, changes rectangles, and keeps modes
// and the colors that the program chose (colors), which frames show. It identifies
// itself as a VT420 and behaves like xterm. It changes cells only through the small
// grid interface, which has two implementations: native cells, the default, and
// hinshun/vt10x. A differential fuzz test compares the two. Cells contain numbers of
// styles and clusters; unused table entries are swept. Lines that leave the top of the
// screen are packed (pack, unpack, history) into a form that needs no table, and
// wrapped again when the width changes (resize, rewrap). A painter has a Frame, which
// Snapshot updates line by line. Save and LoadScreen move a whole screen to another
// process (save, savecells, packcheck, archive).
//
// Everything that a program can make grow is bounded, every panic is recovered, and the
// same bytes give the same screen however they are split into writes.
//
// Package term/pty runs a program of this host. Package term/keys handles the other
// direction: it decodes what the person's terminal sends and encodes it for the modes that
// the program asked for.
package term
