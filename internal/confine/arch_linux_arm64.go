package confine

const arch = 0xc00000b7 // AUDIT_ARCH_AARCH64
