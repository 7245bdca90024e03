// Package layout computes where the panes of a group are. A Tree divides an area into parts, side
// by side or one below the other, and each part may be divided again. It stores shares and no
// sizes, so a window that becomes smaller and then as large as before shows the same layout again.
//
// No operation changes a tree: each returns another one.
package layout
