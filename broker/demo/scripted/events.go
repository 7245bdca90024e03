package scripted

import (
	"context"
	"io"
	"net/http"
	"time"
)

// eventWriter writes server-sent events; after the first error it does nothing.
type eventWriter struct {
	ctx   context.Context // of the request whose answer this is
	w     http.ResponseWriter
	flush *http.ResponseController
	delay time.Duration
	err   error
}

// newEventWriter begins an answer that is a stream of events, with delay between
// two pieces of text.
func newEventWriter(ctx context.Context, w http.ResponseWriter, delay time.Duration) *eventWriter {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &eventWriter{ctx: ctx, w: w, flush: http.NewResponseController(w), delay: delay}
}

// send writes one event, whose data names the event too, as some providers do.
func (e *eventWriter) send(name string, data map[string]any) {
	data["type"] = name
	e.write("event: " + name + "\ndata: " + encode(data))
}

// data writes one event without a name.
func (e *eventWriter) data(v any) { e.write("data: " + encode(v)) }

// write writes the lines of one event.
func (e *eventWriter) write(lines string) {
	if e.err != nil {
		return
	}
	if _, e.err = io.WriteString(e.w, lines+"\n\n"); e.err == nil {
		e.err = e.flush.Flush()
	}
}

// pause waits between two pieces of text, as a model does.
func (e *eventWriter) pause() {
	if e.err != nil || e.delay <= 0 {
		return
	}
	timer := time.NewTimer(e.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.ctx.Done():
		e.err = e.ctx.Err()
	}
}

// How many characters one piece of a streamed text has.
const piecesSize = 12

// pieces cuts s into runs of at most piecesSize characters; an empty text is one
// empty piece.
func pieces(s string) []string {
	runes := []rune(s)
	var out []string
	for len(runes) > piecesSize {
		out = append(out, string(runes[:piecesSize]))
		runes = runes[piecesSize:]
	}
	return append(out, string(runes))
}
