package term

// back moves the cursor left by n (BS, CUB). With reverse wraparound it continues from
// the left margin to the right margin of the row above.
func (e *emulator) back(n int) {
	if !e.modes.has(autoWrap) || !e.modes.has(reverseWrap|reverseWrapAny) {
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
		if !e.backToRowAbove() {
			return
		}
		n--
	}
}

// backToRowAbove moves from the start of a row to the end of the row above. In mode 45
// it does so only if the row continues the one above; in mode 1045 always, and from the
// top row to the bottom row.
func (e *emulator) backToRowAbove() bool {
	top, bottom := 0, e.rows-1
	if e.y >= e.top && e.y <= e.bottom {
		top, bottom = e.top, e.bottom
	}
	if e.modes.has(reverseWrapAny) {
		if e.y--; e.y < top {
			e.y = bottom
		}
		e.x = e.right - 1
		return true
	}
	state := &e.rowStates()[e.y]
	if e.y == top || !state.continues {
		return false
	}
	state.continues = false
	e.y--
	e.x = e.right - 1
	if e.x > 0 && e.grid.at(e.x, e.y).text == 0 { // a wide character did not fit there
		e.x--
	}
	return true
}
