package keys

import "bytes"

// readReply decodes a control sequence that no key sends as an answer.
func readReply(s sequence) Event {
	r := Reply{Params: s.params()}
	switch s.final {
	case 'c':
		r.Kind = ReplyAttributes
		if s.prefix != 0 {
			r.Text = string(s.prefix)
		}
	case 'R':
		if len(r.Params) >= 2 {
			r.Kind = ReplyCursor
		}
	case 'n':
		r.Kind = ReplyStatus
	case 'y':
		if s.inter == '$' && len(r.Params) == 2 {
			r.Kind = ReplyMode
		}
	case 'u':
		if s.prefix == '?' && len(r.Params) == 1 {
			r.Kind = ReplyKeyboard
		}
	case 't':
		if len(r.Params) > 0 {
			r.Kind = ReplyWindow
		}
	}
	return Event{Kind: ReplyEvent, Reply: r}
}

// readString decodes an OSC, DCS or APC.
func readString(introducer byte, body []byte) Reply {
	switch {
	case introducer == ']':
		head, rest := cut(body, ';')
		switch n := number(head); n {
		case 4, 10, 11, 12:
			return Reply{Kind: ReplyColor, Params: []int{n}, Text: string(rest)}
		}
	case introducer == 'P' && bytes.HasPrefix(body, []byte(">|")):
		return Reply{Kind: ReplyVersion, Text: string(body[2:])}
	}
	return Reply{Text: string(body)}
}
