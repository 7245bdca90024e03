// Package layout says where the panes of a group are. A Tree divides an area again and again,
// side by side or one below the other. It holds no sizes of the screen but shares, so it gives
// the same panes again when a window that became smaller becomes as large as it was.
//
// Everything here is computed from values and changes none of them: each operation returns
// another tree.
package layout
