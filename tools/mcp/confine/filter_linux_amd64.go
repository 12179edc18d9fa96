package confine

import (
	"slices"

	"golang.org/x/sys/unix"
)

// machine is what the kernel calls this processor.
const machine = unix.AUDIT_ARCH_X86_64

// Calls that newer processors have not got.
var (
	legacyMetadata = slices.Concat(
		setsID(1, nil, unix.SYS_CHMOD, unix.SYS_CREAT, unix.SYS_MKNOD),
		setsID(2, makesFile(1)[0], unix.SYS_OPEN), setsID(2, makesFile(1)[1], unix.SYS_OPEN),
		[]rule{refuse(unix.EPERM, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS__SYSCTL), refuse(unix.ENOSYS, unix.SYS_MODIFY_LDT)})
	legacyOutsideFiles = []rule{
		refuse(unix.EPERM, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN),
		refuse(0, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT),
	}
)
