// Package isolate runs one program of an agent's and nothing else.
//
// It is the inside of the process ironcurtain-mux-code. The process makes its engine, gives
// up everything but its three descriptors (internal/confine), says that it is ready, and only
// then reads a program. The program is TypeScript: the body of an async function. Its types
// are taken out, it runs in QuickJS, and all that it can do is to ask for calls of tools and
// to write log lines. Each call goes to the host as a frame; the host judges it and
// answers. When the program has ended, so does the process.
//
// Both the parser and the engine work on a stranger's text and may have flaws. The engine's own
// limits of memory and time only serve to end a program with a message. The protection is the lock,
// and the host, which trusts nothing that the process sends.
package isolate
