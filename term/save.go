package term

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// A saved screen begins with savedMark, whose last byte is the version of the format, and
// ends with a checksum. Only the version that wrote a screen reads it.
const savedMark = "icscreen\x01"

var savedTable = crc32.MakeTable(crc32.Castagnoli)

// Save returns the whole screen for LoadScreen: what it shows, its scrollback, the waiting
// answers, and all state that decides what later bytes do, even in the middle of a
// sequence. It does not save the count of faults, nor how long a synchronized update has
// been held. Nobody may write to the screen while Save runs.
func (s *Screen) Save() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return nil, errors.New("save screen: closed")
	}
	const rest = 128 << 10 // bytes, enough for all except the scrollback of most screens
	a := &archive{data: append(make([]byte, 0, s.emulator.history.size()+rest), savedMark...)}
	s.emulator.sweep()
	s.emulator.archive(a)
	if a.err != nil {
		return nil, errors.New("save screen: the state of the screen is not valid")
	}
	return binary.LittleEndian.AppendUint32(a.data, crc32.Checksum(a.data, savedTable)), nil
}

// LoadScreen makes the screen that Save saved. notify is the option of the same name.
func LoadScreen(saved []byte, notify func(Event)) (*Screen, error) {
	body, ok := bytes.CutPrefix(saved, []byte(savedMark))
	n := len(body) - crc32.Size
	if !ok || n < 0 {
		return nil, errors.New("load screen: this is not a saved screen, or another version saved it")
	}
	sum := crc32.Checksum(saved[:len(saved)-crc32.Size], savedTable)
	if binary.LittleEndian.Uint32(body[n:]) != sum {
		return nil, errDamaged
	}
	e, err := loadEmulator(body[:n])
	if err != nil {
		return nil, err
	}
	return newScreen(e, notify), nil
}

// loadEmulator loads the bytes between the mark and the checksum.
func loadEmulator(body []byte) (*emulator, error) {
	a := &archive{loading: true, data: body}
	e := new(emulator)
	e.archive(a)
	a.check(len(a.data) == 0)
	if a.err != nil {
		return nil, a.err
	}
	return e, nil
}

// archive saves or loads the emulator.
func (e *emulator) archive(a *archive) {
	native := false
	cols, rows, lines := e.cols, e.rows, 0
	if !a.loading {
		_, native = e.grid.(*nativeGrid)
		lines = e.history.max
	}
	a.flag(&native)
	archiveInt(a, &cols, 1, maxCols)
	archiveInt(a, &rows, 1, maxRows)
	archiveInt(a, &lines, 0, maxScrollback)
	if a.err != nil {
		return
	}
	if a.loading {
		var g grid
		if native {
			g = newNativeGrid(cols, rows)
		} else {
			g = newVT10xGrid(cols, rows)
		}
		*e = *newEmulator(g, cols, rows, newHistory(lines))
	}
	e.archiveTexts(a)
	e.archiveCursor(a)
	e.archiveModes(a)
	e.archiveTitles(a)
	e.archiveColors(a)
	e.archiveParser(a)
	e.archiveCells(a)
	e.archiveHistory(a)
}

// archiveCursor saves or loads the cursor, the saved cursors, the margins and tab stops.
func (e *emulator) archiveCursor(a *archive) {
	archiveInt(a, &e.x, 0, e.cols)
	archiveInt(a, &e.y, 0, e.rows-1)
	if e.x == e.cols {
		archiveInt(a, &e.due, 0, e.cols-1)
	}
	archiveInt(a, &e.top, 0, e.rows-1)
	archiveInt(a, &e.bottom, 0, e.rows-1)
	archiveInt(a, &e.left, 0, e.cols-1)
	archiveInt(a, &e.right, 1, e.cols)
	a.check(e.top <= e.bottom && e.left < e.right)
	e.narrow = e.right-e.left < e.cols
	e.archivePen(a, &e.pen)
	a.charsets(&e.charsets, &e.shift)
	archiveInt(a, &e.singleShift, 0, 3)
	for i := range e.saved {
		s := &e.saved[i]
		archiveInt(a, &s.x, 0, e.cols-1)
		archiveInt(a, &s.y, 0, e.rows-1)
		e.archivePen(a, &s.pen)
		a.charsets(&s.charsets, &s.shift)
		a.flag(&s.origin)
	}
	for x := range e.tabs {
		a.flag(&e.tabs[x])
	}
	archiveInt(a, &e.lastWidth, 0, 2)
}

func (a *archive) charsets(sets *[4]byte, shift *uint8) {
	for i := range sets {
		set := &sets[i]
		archiveInt(a, set, 0, 0x7f)
		_, national := nationalCharsets[*set]
		a.check(*set == '0' || *set == 'B' || national)
	}
	archiveInt(a, shift, 0, 3)
}

// archiveModes saves or loads the modes, including those of keyboard and mouse.
func (e *emulator) archiveModes(a *archive) {
	archiveInt(a, &e.modes, 0, allModes)
	for _, flag := range []*bool{
		&e.alt, &e.altKept, &e.guarded, &e.insert, &e.newline, &e.keypad, &e.sync.active,
	} {
		a.flag(flag)
	}
	a.check(!e.alt || !e.altKept)
	if a.loading && e.sync.active {
		e.sync.since = time.Now()
	}
	archiveInt(a, &e.extent, 0, 2)
	archiveInt(a, &e.level, 1, maxLevel)
	archiveInt(a, &e.shape, 0, CursorBar)
	archiveInt(a, &e.mouse.mode, 0, keys.MouseMotion)
	archiveInt(a, &e.mouse.format, 0, keys.MousePixels)
	archiveInt(a, &e.otherKeys, 0, 2)
	for i := range e.kitty {
		stack := &e.kitty[i]
		archiveInt(a, &stack.base, 0, kittyFlags)
		archiveInt(a, &stack.depth, 0, len(stack.entries))
		for j := range stack.entries[:stack.depth] {
			archiveInt(a, &stack.entries[j], 0, kittyFlags)
		}
	}
	e.archiveSavedModes(a)
}

// archiveSavedModes saves or loads what XTSAVE saved.
func (e *emulator) archiveSavedModes(a *archive) {
	numbers := slices.Sorted(maps.Keys(e.savedModes))
	archiveList(a, &numbers, 2, maxSavedModes)
	if a.loading && len(numbers) > 0 {
		e.savedModes = make(map[int]bool, len(numbers))
	}
	for _, n := range numbers {
		on := e.savedModes[n]
		archiveInt(a, &n, 0, maxParam)
		a.flag(&on)
		report := e.privateModeReport(n)
		a.check(report == modeIsSet || report == modeIsReset)
		if a.loading {
			e.savedModes[n] = on
		}
	}
}

// archiveTitles saves or loads the titles, and the answers that wait for the program.
func (e *emulator) archiveTitles(a *archive) {
	a.text(&e.title, maxTitle)
	a.text(&e.iconTitle, maxTitle)
	a.flag(&e.titleHexSet)
	a.flag(&e.titleHexAsked)
	archiveList(a, &e.titleStack, 1, maxTitles)
	for i := range e.titleStack {
		a.text(&e.titleStack[i], maxTitle)
	}
	a.bytes(&e.replies, 2*maxReplies)
	if a.loading {
		e.replies = slices.Clone(e.replies)
	}
}

// archiveColors saves or loads the colors of the person and of the program.
func (e *emulator) archiveColors(a *archive) {
	a.color(&e.foreground)
	a.color(&e.background)
	own := e.own != nil
	a.flag(&own)
	if !own {
		return
	}
	if a.loading {
		e.own = new(ownColors)
	}
	for i := range e.own.palette {
		a.color(&e.own.palette[i])
	}
	for i := range e.own.special {
		a.color(&e.own.special[i])
	}
	a.color(&e.own.foreground)
	a.color(&e.own.background)
	a.color(&e.own.cursor)
}

// archiveParser saves or loads the state between two bytes.
func (e *emulator) archiveParser(a *archive) {
	archiveInt(a, &e.state, ground, str)
	a.flag(&e.malformed)
	archiveInt(a, &e.repeatable, 0, 2)
	archiveInt(a, &e.prefix, 0, '?')
	archiveInt(a, &e.inter, 0, '/')
	switch e.state {
	case ground:
		partial := e.partial[:e.partials]
		a.bytes(&partial, len(e.partial)-1)
		a.check(len(partial) == 0 || !utf8.FullRune(partial))
		e.partials = copy(e.partial[:], partial)
	case control:
		archiveInt(a, &e.count, 1, maxParams)
		for i := range e.params[:e.count] {
			archiveInt(a, &e.params[i], -1, maxParam)
		}
		archiveInt(a, &e.subs, 0, uint32(1<<e.count-1))
	case str:
		archiveInt(a, &e.strKind, 'P', '_')
		archiveInt(a, &e.strLast, 0, 0xff)
		a.flag(&e.dropped)
		a.bytes(&e.payload, maxString)
		if a.loading {
			e.payload = slices.Clone(e.payload)
		}
	}
}
