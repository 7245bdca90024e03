package keys

import "unicode/utf8"

// Mods is a set of modifiers held while a key was pressed, in the bits of the
// kitty keyboard protocol.
type Mods uint8

// The modifiers. The last two are locks, which key bindings ignore.
const (
	Shift Mods = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
	CapsLock
	NumLock
)

// locks are the modifiers that key bindings ignore.
const locks = CapsLock | NumLock

// Action is what happened to a key.
type Action uint8

// The key actions. Terminals without event types send Press only.
const (
	Press Action = iota
	Repeat
	Release
)

// Key is one key. Code is the key without modifiers: a Unicode code point in
// lower case, or one of the Key constants.
type Key struct {
	Code    rune
	Mods    Mods
	Action  Action
	Text    string // what the key types; empty for keys that type nothing
	Shifted rune   // Code with Shift held; 0 when not known
	Base    rune   // the key at this position of a US keyboard; 0 when not known
}

// Keys that have a code point.
const (
	KeyTab       rune = 0x09
	KeyEnter     rune = 0x0d
	KeyEscape    rune = 0x1b
	KeySpace     rune = 0x20
	KeyBackspace rune = 0x7f
)

// Keys without a code point; their values are above Unicode.
const (
	KeyUp rune = utf8.MaxRune + 1 + iota
	KeyDown
	KeyRight
	KeyLeft
	KeyHome
	KeyEnd
	KeyInsert
	KeyDelete
	KeyPageUp
	KeyPageDown
	KeyBegin // the middle of the keypad
	KeyF1
	KeyF2
	KeyF3
	KeyF4
	KeyF5
	KeyF6
	KeyF7
	KeyF8
	KeyF9
	KeyF10
	KeyF11
	KeyF12
)

// Keys with their numbers in the kitty keyboard protocol.
const (
	KeyCapsLock    rune = 57358
	KeyScrollLock  rune = 57359
	KeyNumLock     rune = 57360
	KeyPrintScreen rune = 57361
	KeyPause       rune = 57362
	KeyMenu        rune = 57363

	KeyF13 rune = 57376
	KeyF14 rune = 57377
	KeyF15 rune = 57378
	KeyF16 rune = 57379
	KeyF17 rune = 57380
	KeyF18 rune = 57381
	KeyF19 rune = 57382
	KeyF20 rune = 57383
	KeyF21 rune = 57384
	KeyF22 rune = 57385
	KeyF23 rune = 57386
	KeyF24 rune = 57387
	KeyF35 rune = 57398

	KeyPad0         rune = 57399 // KeyPad0+n is the keypad's digit n
	KeyPad9         rune = 57408
	KeyPadDecimal   rune = 57409
	KeyPadDivide    rune = 57410
	KeyPadMultiply  rune = 57411
	KeyPadSubtract  rune = 57412
	KeyPadAdd       rune = 57413
	KeyPadEnter     rune = 57414
	KeyPadEqual     rune = 57415
	KeyPadSeparator rune = 57416
	KeyPadLeft      rune = 57417
	KeyPadRight     rune = 57418
	KeyPadUp        rune = 57419
	KeyPadDown      rune = 57420
	KeyPadPageUp    rune = 57421
	KeyPadPageDown  rune = 57422
	KeyPadHome      rune = 57423
	KeyPadEnd       rune = 57424
	KeyPadInsert    rune = 57425
	KeyPadDelete    rune = 57426
	KeyPadBegin     rune = 57427

	KeyMediaFirst    rune = 57428 // play, pause, … volume, mute
	KeyMediaLast     rune = 57440
	KeyModifierFirst rune = 57441 // the modifier keys themselves
	KeyModifierLast  rune = 57454
)

// IsModifier reports whether the key is itself a modifier or a lock.
func (k Key) IsModifier() bool {
	return k.Code >= KeyModifierFirst && k.Code <= KeyModifierLast ||
		k.Code >= KeyCapsLock && k.Code <= KeyNumLock
}

// functional reports whether the key never types text.
func (k Key) functional() bool {
	return k.Code > utf8.MaxRune || k.Code >= KeyCapsLock && k.Code <= KeyModifierLast ||
		k.Code == KeyTab || k.Code == KeyEnter || k.Code == KeyEscape || k.Code == KeyBackspace
}
