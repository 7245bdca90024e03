package panel

import "time"

// LayBytes is how many bytes of a call are laid out within the event loop;
// more would be felt, and is done beside it.
const LayBytes = 16 << 10

// LaidFor reports whether an item is laid out for a width, or will be.
func (it *Item) LaidFor(width int) bool {
	return it.Body.Width == width || it.laying == width
}

// LayAtOnce lays an item out for a width. It reports false for a large one, which it only
// notes to be laid out beside the event loop.
func (it *Item) LayAtOnce(agent string, width int) bool {
	it.Unlay()
	call := it.Call
	if len(call.Arguments)+len(call.Requested)+len(call.Reason)+effectSize(call.Effect) > LayBytes {
		it.laying = width
		return false
	}
	it.lay(LayBody(call, agent, width))
	return true
}

// Unlay drops an item's rows, which have to be made anew, and looked at anew.
func (it *Item) Unlay() {
	it.Body, it.seen, it.laying = Body{}, nil, 0
	it.laid++
	it.Since, it.looked = time.Time{}, false
}

// lay takes over an item's rows.
func (it *Item) lay(b Body) {
	b.scopes(it.Scopes)
	it.Body, it.laying = b, 0
	it.seen = make([]bool, len(b.Rows))
}

// LaidOut takes over the rows of a large item.
func (a *Queue) LaidOut(id string, body Body) bool {
	it := a.Find(id)
	if it == nil || it.laying != body.Width {
		return false
	}
	it.lay(body)
	return true
}
