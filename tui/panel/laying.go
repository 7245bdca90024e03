package panel

import "time"

// LayBytes is how many bytes of a call are laid out in the event loop. A larger call would
// delay it, so a goroutine of its own lays that out.
const LayBytes = 16 << 10

// LaidFor reports whether an item is laid out for a width, or is being laid out for it.
func (it *Item) LaidFor(width int) bool {
	return it.Body.Width == width || it.laying == width
}

// LayAtOnce lays an item out for a width. A large item it only notes, and reports false:
// the caller then has it laid out outside of the event loop.
func (it *Item) LayAtOnce(width int) bool {
	it.Unlay()
	call := it.Call
	if len(call.Arguments)+len(call.Requested)+len(call.Reason)+effectSize(call.Effect) > LayBytes {
		it.laying = width
		return false
	}
	it.lay(LayBody(call, width))
	return true
}

// Unlay drops an item's rows. They have to be laid out again, and the person has to see
// them again.
func (it *Item) Unlay() {
	it.Body, it.seen, it.laying = Body{}, nil, 0
	it.laid++
	it.Since, it.looked = time.Time{}, false
}

// lay sets an item's rows; none of them counts as seen.
func (it *Item) lay(b Body) {
	b.scopes(it.Scopes)
	it.Body, it.laying = b, 0
	it.seen = make([]bool, len(b.Rows))
}

// LaidOut sets the rows of a large item. It reports false when the item is gone or is
// wanted for another width now.
func (a *Queue) LaidOut(id string, body Body) bool {
	it := a.Find(id)
	if it == nil || it.laying != body.Width {
		return false
	}
	it.lay(body)
	return true
}
