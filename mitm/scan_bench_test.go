package mitm

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkScan gives what looking for credentials costs, in bodies of several kinds.
func BenchmarkScan(b *testing.B) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) string {
		var out strings.Builder
		for range n {
			out.WriteByte(letters[rng.IntN(len(letters))])
		}
		return out.String()
	}
	key := "sk-ant-api03-" + random(95)
	token := "eyJhbGciOiJSUzI1NiJ9." + random(1200) + "." + random(342)
	keys := map[string][]Credential{
		"key":   {{Value: key}},
		"keys":  {{Value: key}, {Value: "sk-proj-" + random(156)}, {Value: "AIzaSy" + random(33)}, {Value: "sk-or-v1-" + random(64)}},
		"login": {{Value: token, Account: "0f3b2c1a-1111-2222-3333-444455556666"}},
	}
	fill := func(s string) []byte { return []byte(strings.Repeat(s, (32<<10)/len(s)+1)[:32<<10]) }
	bodies := map[string][]byte{
		"events": fill("data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"some words of an answer\"}}\n\n"),
		"code":   fill(`{\"a\":\"func main() {\\n\\tfmt.Println(\\\"50% of it\\\")\\n}\\n\",\"b\":[1,2,3]}` + "\n"),
		"random": []byte(random(32 << 10)),
		"short":  []byte("data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"some words of an answer\"}}\n\n"),
		"URLs":   fill("https://example.com/a%20b%2Fc%2fd?x=1&#45;y\n"),
	}
	for name, sent := range keys {
		for kind, body := range bodies {
			b.Run(name+"/"+kind, func(b *testing.B) {
				w := testGuarded().watcher(sent)
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					w.scan(body, false)
				}
			})
		}
	}
}
