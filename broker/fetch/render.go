package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// A larger page is returned as plain text, because converting it to Markdown would cost too much.
const (
	maxMarkup   = 2 << 20 // bytes of HTML
	maxElements = 50_000
)

// render returns the text of a page in a format; "" means markdown.
func render(p Page, format string) (string, error) {
	kind := p.Headers["content-type"]
	if kind == "" {
		kind = http.DetectContentType(p.Body)
	}
	media, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return "", fmt.Errorf("the content type of the answer is malformed: %.100q", kind)
	}
	if !textual(media) {
		return "", fmt.Errorf("the answer is %s, not text (%d bytes)", media, len(p.Body))
	}
	text, err := decode(p.Body, kind, media, p.Truncated)
	if err != nil {
		return "", err
	}
	if format == "html" || !markup(media) {
		return text, nil
	}
	if format == "text" || len(text) > maxMarkup {
		return plainText(text), nil
	}
	if md, err := markdown(text); err == nil {
		return md, nil
	}
	return plainText(text), nil
}

// textual reports whether a media type is text.
func textual(media string) bool {
	switch media {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/ecmascript",
		"application/x-ndjson", "application/yaml", "application/x-yaml", "application/toml", "application/x-sh", "application/sql":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml")
}

// decode converts a text to UTF-8. The header, the byte order mark or the HTML names the character
// set. If none of these does, decode treats valid UTF-8 as UTF-8. The charset package would only
// examine the first kilobyte, and guess Latin if the first accent comes later. cut means that the
// body may end inside a character.
func decode(body []byte, kind, media string, cut bool) (string, error) {
	from, name, certain := charset.DetermineEncoding(body, kind)
	guessed := !certain && (name == "windows-1252" || !markup(media)) // a <meta> settles what is HTML
	if guessed && isUTF8(body, cut) {
		from = encoding.Nop
	}
	text, err := from.NewDecoder().Bytes(body)
	if err != nil {
		return "", fmt.Errorf("decode the answer: %w", err)
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(text), "\uFEFF"), "\uFFFD"), nil
}

// markup reports whether a media type is HTML.
func markup(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

// isUTF8 reports whether a text is UTF-8. If cut, the last character may be incomplete.
func isUTF8(body []byte, cut bool) bool {
	if cut {
		for i := len(body) - 1; i >= max(0, len(body)-utf8.UTFMax); i-- {
			if utf8.RuneStart(body[i]) {
				if !utf8.FullRune(body[i:]) {
					body = body[:i]
				}
				break
			}
		}
	}
	return utf8.Valid(body)
}

// unread are elements whose content is not part of the page's text.
var unread = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true, atom.Object: true,
	atom.Svg: true, atom.Canvas: true,
}

// markdown converts a page, or its main element if it has exactly one.
func markdown(text string) (string, error) {
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	title, main, elements := survey(doc)
	if elements > maxElements {
		return "", errors.New("too many elements")
	}
	if main == nil {
		main = doc
	}
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	md, err := conv.ConvertNode(main)
	if err != nil {
		return "", err
	}
	body := strings.TrimSpace(string(md))
	if title != "" && !strings.HasPrefix(body, "# ") {
		body = "# " + title + "\n\n" + body
	}
	return body, nil
}

// survey finds the title of a page and its main element, which is nil unless there is exactly one,
// and counts the elements.
func survey(doc *html.Node) (title string, main *html.Node, elements int) {
	parts := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		elements++
		switch n.DataAtom {
		case atom.Title:
			if title == "" && n.FirstChild != nil {
				title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
			}
		case atom.Main:
			main, parts = n, parts+1
		}
	}
	if parts != 1 {
		main = nil
	}
	return title, main, elements
}

// plainText returns the text of a page without its markup. It reads each token once and
// builds no tree.
func plainText(text string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(text))
	hidden := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return collapse(b.String())
		case html.TextToken:
			if hidden == 0 {
				b.Write(bytes.TrimSpace(z.Text()))
				b.WriteByte(' ')
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			switch a := atom.Lookup(name); {
			case unread[a]:
				hidden++
			case breaks(a):
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch a := atom.Lookup(name); {
			case unread[a]:
				hidden = max(0, hidden-1)
			case breaks(a):
				b.WriteByte('\n')
			}
		case html.SelfClosingTagToken:
			if name, _ := z.TagName(); breaks(atom.Lookup(name)) {
				b.WriteByte('\n')
			}
		}
	}
}

// breaks reports whether an element is on lines of its own.
func breaks(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Div, atom.Br, atom.Li, atom.Ul, atom.Ol, atom.Tr, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Section, atom.Article, atom.Header, atom.Footer, atom.Pre, atom.Blockquote, atom.Hr, atom.Dt, atom.Dd:
		return true
	}
	return false
}

// collapse trims lines, and replaces several empty lines by one.
func collapse(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
