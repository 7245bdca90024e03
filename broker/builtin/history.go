package builtin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// maxHistory is the largest size of a conversation's file, in bytes.
const maxHistory = 60 << 20

// errFull means that nothing more can be added to a conversation.
var errFull = errors.New("this conversation has reached its maximum size: open another tab")

// entry is a line of the file. Exactly one of Message, Ticket, Made and Compacted is set.
type entry struct {
	Message *llm.Message `json:"message,omitempty"`
	// Ticket is the ticket with which the next process can resume the program of a call of the
	// last message.
	Ticket *ticket `json:"ticket,omitempty"`
	// Made are the calls of a program that took effect or may have. Left is how many earlier
	// ones were left out.
	Made []Call `json:"made,omitempty"`
	Left int    `json:"left,omitempty"`
	// Compacted replaces the beginning of the conversation from here on.
	Compacted *compacted `json:"compacted,omitempty"`
}

type ticket struct {
	Call   string `json:"call"` // the call's ID
	Ticket string `json:"ticket"`
}

// compacted says which beginning of a conversation is no longer sent to the model.
type compacted struct {
	Summary string `json:"summary"` // of the messages before From
	From    int    `json:"from"`    // the first message that is sent, besides the very first one
	Short   int    `json:"short"`   // before this message, long results are replaced by their size
}

// History is a conversation: a file, and its content in memory. It is not safe for concurrent use.
type History struct {
	file    io.Writer
	size    int
	torn    bool // the file ends within a line
	all     []llm.Message
	tickets map[string]string // by the IDs of calls without results
	ids     map[string]bool   // of all calls
	made    made              // by all programs
	now     compacted
}

// OpenHistory reads a conversation. Writes to file must append. A line that was not written
// completely is ignored: it had no effect.
func OpenHistory(file io.ReadWriter) (*History, error) {
	data, err := io.ReadAll(io.LimitReader(file, maxHistory+1))
	if err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	h := &History{file: file, size: len(data), tickets: map[string]string{}, ids: map[string]bool{}}
	for line := range bytes.Lines(data) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		var e entry
		err := json.Unmarshal(line, &e)
		if err == nil && whole {
			h.apply(e)
		}
		h.torn = !whole
	}
	return h, nil
}

// apply updates the conversation in memory with an entry of the file.
func (h *History) apply(e entry) {
	switch {
	case e.Message != nil:
		h.all = append(h.all, *e.Message)
		for _, r := range e.Message.Results {
			delete(h.tickets, r.ID)
		}
		for _, c := range e.Message.Calls {
			h.ids[c.ID] = true
		}
	case e.Ticket != nil:
		h.tickets[e.Ticket.Call] = e.Ticket.Ticket
	case e.Made != nil:
		h.made.add(e.Left, e.Made...)
	case e.Compacted != nil && e.Compacted.From >= 0 && e.Compacted.From <= len(h.all):
		h.now = *e.Compacted
		h.forget()
	}
}

// forget frees what is no longer sent to the model: the summed up messages, except for their
// programs, and the long results of old programs. The file keeps all of it.
func (h *History) forget() {
	for i := 1; i < h.now.From; i++ {
		h.all[i] = llm.Message{Role: h.all[i].Role, Calls: h.all[i].Calls}
	}
	for i := h.now.From; i < min(h.now.Short, len(h.all)); i++ {
		results := slices.Clone(h.all[i].Results)
		for n, r := range results {
			if len(r.Text) > maxShort {
				results[n].Text = fmt.Sprintf("(%d bytes, no longer shown)", len(r.Text))
			}
		}
		h.all[i].Results = results
	}
}

// maxShort is the length, in bytes, up to which a result is always sent.
const maxShort = 200

// add appends an entry to the file, and then applies it.
func (h *History) add(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("keep the conversation: %w", err)
	}
	if h.torn {
		line = append([]byte("\n"), line...)
	}
	line = append(line, '\n')
	if h.size+len(line) > maxHistory {
		return errFull
	}
	n, err := h.file.Write(line)
	h.size += n
	if err != nil {
		h.torn = h.torn || n > 0
		return fmt.Errorf("keep the conversation: %w", err)
	}
	h.torn = false
	h.apply(e)
	return nil
}

func (h *History) say(m llm.Message) error { return h.add(entry{Message: &m}) }

// openCalls returns the calls of the last message, which have no results yet.
func (h *History) openCalls() []llm.Call {
	if len(h.all) == 0 {
		return nil
	}
	return h.all[len(h.all)-1].Calls
}

// programs returns the codes of all calls, in order.
func (h *History) programs() []string {
	var all []string
	for _, m := range h.all {
		for _, c := range m.Calls {
			all = append(all, codeOf(c))
		}
	}
	return all
}

// codeOf returns the code of the program that a call runs, or "" if there is none.
func codeOf(c llm.Call) string {
	var arguments struct {
		Code string `json:"code"`
	}
	if c.Name != toolName || json.Unmarshal(c.Arguments, &arguments) != nil {
		return ""
	}
	return arguments.Code
}

// sent returns the messages as they are sent to the model: compacted, and with consecutive messages
// of the person joined.
func (h *History) sent() []llm.Message {
	var out []llm.Message
	if h.now.From > 0 {
		first := h.all[0].Text
		out = append(out, llm.Message{Role: llm.User, Text: first + "\n\n(The conversation went on. A summary of it:)\n" +
			h.now.Summary + "\n\n" + h.made.list()})
	}
	for _, m := range h.all[h.now.From:] {
		if last := len(out) - 1; last >= 0 && m.Role == llm.User && out[last].Role == llm.User {
			out[last].Results = slices.Concat(out[last].Results, m.Results)
			out[last].Text = joined(out[last].Text, m.Text)
			continue
		}
		out = append(out, m)
	}
	return out
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
