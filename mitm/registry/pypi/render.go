package pypi

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// writeHTML writes the document of a project as HTML, in plain ASCII.
func writeHTML(w io.Writer, p *page, shown []bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html>\n<head>\n<meta name=\"pypi:repository-version\" content=\"1.0\">\n"+
		"<title>Links for %[1]s</title>\n</head>\n<body>\n<h1>Links for %[1]s</h1>\n", escape(p.project))
	for i := range p.items {
		it := &p.items[i]
		if !shown[it.version] {
			continue
		}
		address := it.address
		if len(it.hashes) > 0 { // the strongest algorithm that all clients know
			address += "#" + it.hashes[0].algorithm + "=" + it.hashes[0].hex
		}
		fmt.Fprintf(b, `<a href="%s"`, escape(address))
		if it.requires != "" {
			fmt.Fprintf(b, ` data-requires-python="%s"`, escape(it.requires))
		}
		if it.metadata.there {
			m := "true"
			if len(it.metadata.hashes) > 0 {
				m = it.metadata.hashes[0].algorithm + "=" + it.metadata.hashes[0].hex
			}
			fmt.Fprintf(b, ` data-core-metadata="%[1]s" data-dist-info-metadata="%[1]s"`, escape(m))
		}
		if it.yanked {
			fmt.Fprintf(b, ` data-yanked="%s"`, escape(it.reason))
		}
		fmt.Fprintf(b, ">%s</a><br>\n", escape(it.file))
	}
	fmt.Fprint(b, "</body>\n</html>\n")
	return b.Flush()
}

// escape makes a text safe for HTML in any encoding.
func escape(s string) string {
	var out strings.Builder
	for _, r := range html.EscapeString(s) {
		switch {
		case r < ' ' || r == 0x7f:
			out.WriteByte(' ')
		case r > 0x7f:
			fmt.Fprintf(&out, "&#%d;", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// writeJSON writes the document of a project as JSON, for an index that only has HTML. It uses
// version 1.0 of the interface, which has neither times nor sizes.
func writeJSON(w io.Writer, p *page, shown []bool) error {
	b := bufio.NewWriter(w)
	out := jsonx.AppendString([]byte(`{"meta":{"api-version":"1.0"},"name":`), p.project)
	out = append(out, `,"files":[`...)
	first := true
	for i := range p.items {
		if !shown[p.items[i].version] {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		if _, err := b.Write(p.items[i].appendJSON(out)); err != nil {
			return err
		}
		out = out[:0]
	}
	if _, err := b.Write(append(out, "]}\n"...)); err != nil {
		return err
	}
	return b.Flush()
}

func (it *item) appendJSON(out []byte) []byte {
	out = jsonx.AppendString(append(out, `{"filename":`...), it.file)
	out = jsonx.AppendString(append(out, `,"url":`...), it.address)
	out = appendHashes(append(out, `,"hashes":`...), it.hashes)
	if it.requires != "" {
		out = jsonx.AppendString(append(out, `,"requires-python":`...), it.requires)
	}
	if it.metadata.there {
		m := []byte("true")
		if len(it.metadata.hashes) > 0 {
			m = appendHashes(nil, it.metadata.hashes)
		}
		// Not under the older name, because pip 22.3 to 23.0 fail if that has digests.
		out = append(append(out, `,"core-metadata":`...), m...)
	}
	switch {
	case it.yanked && it.reason != "":
		out = jsonx.AppendString(append(out, `,"yanked":`...), it.reason)
	case it.yanked:
		out = append(out, `,"yanked":true`...)
	}
	return append(out, '}')
}

func appendHashes(out []byte, hashes []hash) []byte {
	out = append(out, '{')
	for i, h := range hashes {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonx.AppendString(out, h.algorithm)
		out = jsonx.AppendString(append(out, ':'), h.hex)
	}
	return append(out, '}')
}
