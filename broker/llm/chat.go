package llm

import (
	"context"
	"encoding/json"
)

// Chat is a model that a program of ours holds a conversation with. It is safe for
// concurrent use.
type Chat interface {
	// Reply asks the model for its next message. said is called with each piece of its text as it
	// arrives. A reply that was not received whole is an error, and nothing in it may be acted on.
	Reply(ctx context.Context, r Request, said func(piece string)) (Reply, error)
	// Name is provider and model, "anthropic/claude-sonnet-4-6".
	Name() string
	// Close closes idle connections.
	Close()
}

// Request is a conversation up to now.
type Request struct {
	System    string
	Tools     []Tool
	Messages  []Message // the person's first, then in turns
	MaxTokens int       // what the model may write
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // JSON Schema of its arguments
}

// Role says whose message it is.
type Role string

// The roles.
const (
	User      Role = "user" // the person, and results of calls
	Assistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role    Role     `json:"role"`
	Text    string   `json:"text,omitempty"`
	Calls   []Call   `json:"calls,omitempty"`   // of an assistant
	Results []Result `json:"results,omitempty"` // of a user: of all calls of the message before
}

// Call is a model's request to call a tool.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// Signature goes back to the model with the call, unchanged. Some providers want it.
	Signature []byte `json:"signature,omitempty"`
}

// Result is what became of a call.
type Result struct {
	ID     string `json:"id"`   // of the call
	Name   string `json:"name"` // of the tool
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// Reply is what the model has answered.
type Reply struct {
	Text  string
	Calls []Call
	Cut   bool // it was longer than MaxTokens; Calls is empty then
	Used  Tokens
}

// Tokens are counted by the provider.
type Tokens struct {
	In  int // of the request, cached ones included
	Out int // of the reply
}
