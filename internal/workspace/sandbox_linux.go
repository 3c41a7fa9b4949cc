package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	changeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	changeDir  = changeFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
)

// confine leaves this thread, and all that it starts, no place to write but those below the paths and the devices. ok
// is false where the kernel has no Landlock; then nothing is confined.
func confine(paths []string) (ok bool, err error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || int(abi) < 1 {
		return false, nil
	}
	handled, file := uint64(changeDir), uint64(changeFile)
	if abi >= 2 {
		handled |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		handled |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
		file |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	// The size is that of the first member, which every version of the kernel's interface knows.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0) //nolint:gosec // a kernel call has no other form
	if errno != 0 {
		return false, fmt.Errorf("make sandbox: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, p := range paths {
		if err := permit(int(fd), p, handled, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("make sandbox: %w", err)
		}
	}
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/pts", "/dev/ptmx", "/dev/shm"} {
		access := file
		if dev == "/dev/shm" {
			access = handled
		}
		if err := permit(int(fd), dev, access, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("make sandbox: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return false, fmt.Errorf("make sandbox: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return false, fmt.Errorf("enter sandbox: %w", errno)
	}
	return true, nil
}

// permit allows access below a directory, or to a file what a file can bear.
func permit(ruleset int, path string, access, file uint64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		access &= file
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}                                                                   //nolint:gosec // a descriptor fits
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // as above
	if errno != 0 {
		return errno
	}
	return nil
}
