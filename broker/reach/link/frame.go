package link

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// kind says what a frame is for.
type kind byte

const (
	// frameData carries bytes of a lane; offset is that of the first one.
	frameData kind = iota + 1
	// frameAck says how many bytes of a lane have come (offset), and how many of these nobody
	// has read yet (length). No bytes follow.
	frameAck
	// frameBeat asks for a frameBack with the same offset, which is a number of the sender's.
	frameBeat
	frameBack
	// frameEnd says that the link has ended.
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
	mostData = 16 << 10 // bytes that one frame carries
)

// head is what each frame begins with.
type head struct {
	kind   kind
	lane   byte
	offset uint64
	length uint32
}

// errFrame is the cause when a carrier brings what is no frame.
var errFrame = errors.New("what came is no frame")

// append adds the frame's head to b.
func (h head) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, byte(h.kind), h.lane), h.offset)
	return binary.BigEndian.AppendUint32(b, h.length)
}

// parseHead reads the head of a frame and checks what can be checked without a link. b has
// headSize bytes.
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
		fits = h.lane < lanes && h.length > 0 && h.length <= mostData && h.offset+uint64(h.length) > h.offset
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

// carried is how many bytes follow the head.
func (h head) carried() int {
	if h.kind == frameData {
		return int(h.length)
	}
	return 0
}
