// Package start is the command start: it gives an agent without a terminal one task, or several in
// a conversation.
//
// A conversation reads tasks, gives each to the session, prints the agent's answers and its refused
// calls, and asks the person at the terminal about waiting calls. A person types there into
// promptLine, a line editor that remembers which words were typed and which were pasted.
package start
