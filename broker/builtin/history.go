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

// maxHistory is how long a conversation's file gets, in bytes.
const maxHistory = 60 << 20

// errFull means that nothing more can be added to a conversation.
var errFull = errors.New("this conversation is as long as one can be: open another tab")

// entry is a line of the file: exactly one of its members is there.
type entry struct {
	Message *llm.Message `json:"message,omitempty"`
	// Ticket names the program of the last message's call, by which it is asked for after
	// this process has ended.
	Ticket *ticket `json:"ticket,omitempty"`
	// Made are the calls of a program that took effect, or may have, and Left how many are not
	// among them that came before.
	Made []Call `json:"made,omitempty"`
	Left int    `json:"left,omitempty"`
	// Compacted says what stands for the beginning of the conversation from here on.
	Compacted *compacted `json:"compacted,omitempty"`
}

type ticket struct {
	Call   string `json:"call"` // its id
	Ticket string `json:"ticket"`
}

// compacted is a conversation whose beginning the model is not sent any more.
type compacted struct {
	Summary string `json:"summary"` // of the messages before From
	From    int    `json:"from"`    // the first message that is sent; the first of all is sent besides
	Short   int    `json:"short"`   // before this message only the size of results is sent
}

// History is a conversation: a file to which is added, and what is in it. Not safe for
// concurrent use.
type History struct {
	file    io.Writer
	size    int
	torn    bool // the file ends within a line
	all     []llm.Message
	tickets map[string]string // by the ids of calls whose results are not there
	ids     map[string]bool   // of all calls
	made    made              // by all programs
	now     compacted
}

// OpenHistory reads a conversation. Each write to file is added to its end. A line that was
// not written whole is left out: nothing was done because of it.
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
			h.take(e)
		}
		h.torn = !whole
	}
	return h, nil
}

// take takes an entry over that is in the file.
func (h *History) take(e entry) {
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

// forget drops what the model is not sent any more: of the messages that were summed up
// everything but the programs, and the long results of old programs. The file keeps them.
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

// maxShort is the length of a result that always stays, in bytes.
const maxShort = 200

// add adds an entry to the file, and then takes it over.
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
	h.take(e)
	return nil
}

func (h *History) say(m llm.Message) error { return h.add(entry{Message: &m}) }

// open are the calls of the last message that have no results yet.
func (h *History) open() []llm.Call {
	if len(h.all) == 0 {
		return nil
	}
	return h.all[len(h.all)-1].Calls
}

// programs are the codes of all programs, the first one's first.
func (h *History) programs() []string {
	var all []string
	for _, m := range h.all {
		for _, c := range m.Calls {
			all = append(all, codeOf(c))
		}
	}
	return all
}

// codeOf is the program that a call wants to be run; empty when there is none.
func codeOf(c llm.Call) string {
	var arguments struct {
		Code string `json:"code"`
	}
	if c.Name != toolName || json.Unmarshal(c.Arguments, &arguments) != nil {
		return ""
	}
	return arguments.Code
}

// sent are the messages as the model gets them: without what was compacted, and with no two
// of the person's in a row.
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
