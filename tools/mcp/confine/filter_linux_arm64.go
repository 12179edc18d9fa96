package confine

import "golang.org/x/sys/unix"

// machine is what the kernel calls this processor.
const machine = unix.AUDIT_ARCH_AARCH64

// It has none of the calls that newer ones took the place of.
var legacyMetadata, legacyOutsideFiles []rule
