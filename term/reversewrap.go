package term

// back moves the cursor left by n (BS, CUB). With reverse wraparound it continues from
// the left margin to the right margin of the row above.
func (e *emulator) back(n int) {
	if !e.modes.has(autoWrap) || !e.modes.has(reverseWrap) {
		e.backward(n)
		return
	}
	n = min(n, e.cols*e.rows)
	e.work += n
	if e.x >= e.cols { // the first step cancels the pending wrap
		e.unwrap()
		n--
	}
	for n > 0 {
		if step := min(n, e.x-e.startOfRow()); step > 0 {
			e.x -= step
			n -= step
			continue
		}
		e.backToRowAbove()
		n--
	}
}

// backToRowAbove moves from the start of a row to the end of the row above, and from the
// top row to the bottom row, as xterm did before version 380.
func (e *emulator) backToRowAbove() {
	top, bottom := 0, e.rows-1
	if e.y >= e.top && e.y <= e.bottom {
		top, bottom = e.top, e.bottom
	}
	if e.y--; e.y < top {
		e.y = bottom
	}
	e.x = e.right - 1
}
