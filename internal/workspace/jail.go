package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fairlead/fairlead"
)

// Jail opens files below one directory and nowhere else. Names that leave it by "..", by an absolute path or through a
// symbolic link are refused, whatever changes on disk between a check and its use: the kernel resolves each name below
// an open directory. The git directory of a worktree is outside too, since what stands there runs as commands of ours.
type Jail struct {
	dir  string
	root *os.Root
}

// OpenJail opens the directory. Close it when the work is done.
func OpenJail(dir string) (*Jail, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fairlead.Errorf(fairlead.CodeNotFound, "the workspace directory cannot be opened").WithOp("open workspace")
	}
	return &Jail{dir: abs, root: root}, nil
}

// Close gives the directory back.
func (j *Jail) Close() error { return j.root.Close() }

// Dir is the absolute directory.
func (j *Jail) Dir() string { return j.dir }

// Clean turns a name into the form relative to the jail. An absolute name is taken when it lies below the directory by
// its letters; symbolic links are judged when the file is opened.
func (j *Jail) Clean(name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", outside()
	}
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(j.dir, name)
		if err != nil {
			return "", outside()
		}
		name = rel
	}
	name = filepath.Clean(name)
	if !filepath.IsLocal(name) {
		return "", outside()
	}
	for part := range strings.SplitSeq(name, string(filepath.Separator)) {
		if strings.EqualFold(part, ".git") {
			return "", fairlead.Errorf(fairlead.CodeForbidden, "the git directory is not part of the workspace")
		}
	}
	return name, nil
}

func outside() error {
	return fairlead.Errorf(fairlead.CodeForbidden, "the path leads out of the workspace").
		WithHint("use a path relative to the workspace directory")
}

// Open opens a file or directory for reading.
func (j *Jail) Open(name string) (*os.File, error) {
	return jailed(j, name, j.root.Open)
}

// Stat follows links within the jail.
func (j *Jail) Stat(name string) (fs.FileInfo, error) {
	return jailed(j, name, j.root.Stat)
}

// ReadFile reads at most limit bytes of a regular file; more is too_large.
func (j *Jail) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := jailed(j, name, func(clean string) (*os.File, error) { // a pipe that nobody writes to must not hold us
		return j.root.OpenFile(clean, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, refine(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fairlead.Errorf(fairlead.CodeInvalid, "not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fairlead.Errorf(fairlead.CodeTooLarge, "the file is larger than %d bytes", limit)
	}
	return data, refine(err)
}

// WriteFile replaces a file, making its directories. A reader sees the old content or the new one, never a part; an
// existing file keeps its mode, and a link is followed only within the jail.
func (j *Jail) WriteFile(name string, data []byte) error {
	clean, err := j.Clean(name)
	if err != nil {
		return err
	}
	if clean == "." {
		return fairlead.Errorf(fairlead.CodeInvalid, "the name is the workspace itself")
	}
	mode := fs.FileMode(0o644)
	info, err := j.root.Lstat(clean)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return j.through(clean, data)
	case err == nil && !info.Mode().IsRegular():
		return fairlead.Errorf(fairlead.CodeInvalid, "not a regular file")
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return refine(err)
	}
	if err := j.root.MkdirAll(filepath.Dir(clean), 0o755); err != nil {
		return refine(err)
	}
	tmp := filepath.Join(filepath.Dir(clean), ".fairlead-"+filepath.Base(clean)+".tmp")
	if err := j.root.WriteFile(tmp, data, mode); err != nil {
		return errors.Join(refine(err), j.drop(tmp))
	}
	if err := j.root.Rename(tmp, clean); err != nil {
		return errors.Join(refine(err), j.drop(tmp))
	}
	return nil
}

// through writes to where a link leads; the root follows it within the jail, or refuses.
func (j *Jail) through(link string, data []byte) error {
	f, err := j.root.OpenFile(link, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return refine(err)
	}
	_, err = f.Write(data)
	return refine(errors.Join(err, f.Close()))
}

func (j *Jail) drop(name string) error {
	if err := j.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refine(err)
	}
	return nil
}

// FS is the jail as a file system for walks; links that lead out cannot be opened through it.
func (j *Jail) FS() fs.FS { return j.root.FS() }

func jailed[T any](j *Jail, name string, open func(string) (T, error)) (T, error) {
	clean, err := j.Clean(name)
	if err != nil {
		var none T
		return none, err
	}
	v, err := open(clean)
	return v, refine(err)
}

// refine gives file errors a code. The words of the operating system are kept, its absolute paths are not.
func refine(err error) error {
	var pe *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fairlead.Errorf(fairlead.CodeNotFound, "no such file or directory")
	case errors.Is(err, fs.ErrPermission):
		return fairlead.Errorf(fairlead.CodeForbidden, "permission denied")
	case errors.As(err, &pe) && strings.Contains(pe.Err.Error(), "escapes"):
		return outside()
	case errors.As(err, &pe):
		return fairlead.Errorf(fairlead.CodeInvalid, "%s", pe.Err.Error())
	}
	return err
}
