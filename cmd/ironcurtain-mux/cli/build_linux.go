package cli

// running is a path of this program's file, even after another file has replaced it.
const running = "/proc/self/exe"
