package egress

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// detail is the part of a decision for which a record has no member: the members of
// mitm.Record under their JSON names, without time, session, decision, reason and digest.
// It is encoded without reflection, because it is written for each request.
type detail []byte

// detailOf appends the detail of a record.
func detailOf(memory []byte, r *mitm.Record) (json.RawMessage, error) {
	d := detail(slices.Grow(memory, 512))
	d = strconv.AppendUint(append(d, `{"seq":`...), r.Seq, 10)
	d = strconv.AppendUint(append(d, `,"conn":`...), r.Conn, 10)
	d = jsonx.AppendString(append(d, `,"phase":`...), string(r.Phase))
	d.text("detail", r.Detail)
	d.text("provider", r.Provider)
	d.text("host", r.Host)
	d.text("port", r.Port)
	d.text("sni", r.SNI)
	d.text("method", r.Method)
	d.text("path", r.Path)
	d.number("status", int64(r.Status))
	d.text("keyState", string(r.Key))
	d.texts("stripped", r.Stripped)
	d.text("model", r.Model)
	d.number("reqBytes", r.ReqBytes)
	d.number("respBytes", r.ResBytes)
	d.milliseconds("ttfbMs", r.TTFB)
	d.milliseconds("durMs", r.Duration)
	if r.Usage != nil {
		count, err := json.Marshal(r.Usage)
		if err != nil {
			return nil, fmt.Errorf("render a record of the proxy: %w", err)
		}
		d = append(append(d, `,"usage":`...), count...)
	}
	if r.Guessed {
		d = append(d, `,"usageGuessed":true`...)
	}
	d.number("upstreamStatus", int64(r.Upstream))
	d.number("retry", int64(r.Retry))
	d.number("leaks", int64(r.Leaks))
	return json.RawMessage(append(d, '}')), nil
}

func (d *detail) name(name string) {
	*d = append(append(append(*d, `,"`...), name...), `":`...)
}

// text appends a member unless it is empty, like the other methods of its kind.
func (d *detail) text(name, value string) {
	if value != "" {
		d.name(name)
		*d = jsonx.AppendString(*d, value)
	}
}

func (d *detail) texts(name string, values []string) {
	if len(values) == 0 {
		return
	}
	d.name(name)
	*d = append(*d, '[')
	for i, v := range values {
		if i > 0 {
			*d = append(*d, ',')
		}
		*d = jsonx.AppendString(*d, v)
	}
	*d = append(*d, ']')
}

func (d *detail) number(name string, value int64) {
	if value != 0 {
		d.name(name)
		*d = strconv.AppendInt(*d, value, 10)
	}
}

func (d *detail) milliseconds(name string, value float64) {
	if value != 0 {
		d.name(name)
		*d = strconv.AppendFloat(*d, value, 'f', -1, 64)
	}
}
