package panel

import "time"

// LayBytes is the size of the largest call that is laid out in the event loop, in bytes. A larger one
// would delay the event loop, so another goroutine lays it out.
const LayBytes = 16 << 10

// LaidFor reports whether an item is laid out for a width, or is being laid out for it.
func (it *Item) LaidFor(width int) bool {
	return it.Body.Width == width || it.laying == width
}

// LayAtOnce lays an item out for a width. For a large item it reports false, and the caller lays the
// item out outside of the event loop.
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

// LaidOut sets the rows of a large item. It reports false if the item is gone, or now needs another
// width.
func (a *Queue) LaidOut(id string, body Body) bool {
	it := a.Find(id)
	if it == nil || it.laying != body.Width {
		return false
	}
	it.lay(body)
	return true
}
