package cli

// running leads to the file of this program, also when another one is at its path.
const running = "/proc/self/exe"
