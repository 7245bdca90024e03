package link

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// kind is the type of a frame.
type kind byte

const (
	// frameData carries bytes of a lane; offset is the first one's position in the lane.
	frameData kind = iota + 1
	// frameAck says how many bytes of a lane were received (offset), and how many of these are
	// unread (length). No bytes follow.
	frameAck
	// frameBeat asks for a frameBack with the same offset, which is a number that the sender chose.
	frameBeat
	frameBack
	// frameEnd ends the link.
	frameEnd
)

// The two lanes.
const (
	typed = iota
	bulk
	lanes
)

const (
	headSize = 14
	maxData  = 16 << 10 // bytes in one frame
)

// head is the head of a frame.
type head struct {
	kind   kind
	lane   byte
	offset uint64
	length uint32
}

var errFrame = errors.New("a malformed frame was received")

// append adds the frame's head to b.
func (h head) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, byte(h.kind), h.lane), h.offset)
	return binary.BigEndian.AppendUint32(b, h.length)
}

// parseHead reads the head of a frame and checks it as far as that does not depend on the link.
// b has headSize bytes.
func parseHead(b []byte) (head, error) {
	h := head{
		kind:   kind(b[0]),
		lane:   b[1],
		offset: binary.BigEndian.Uint64(b[2:]),
		length: binary.BigEndian.Uint32(b[10:]),
	}
	fits := false
	switch h.kind {
	case frameData:
		fits = h.lane < lanes && h.length > 0 && h.length <= maxData && h.offset+uint64(h.length) > h.offset
	case frameAck:
		fits = h.lane < lanes && uint64(h.length) <= h.offset
	case frameBeat, frameBack:
		fits = h.lane == 0 && h.length == 0
	case frameEnd:
		fits = h == head{kind: frameEnd}
	}
	if !fits {
		return head{}, fmt.Errorf("%w: % x", errFrame, b)
	}
	return h, nil
}

// carried returns how many bytes follow the head.
func (h head) carried() int {
	if h.kind == frameData {
		return int(h.length)
	}
	return 0
}
