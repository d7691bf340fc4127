/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module that calls libc as Orthanc's modules do, for the tests to redirect: its calls go
   through its own GOT slots. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* A table of pointers in data, as SQLite has one: an absolute relocation */
EXPORT ssize_t (*CallerReadTable[])(int, void*, size_t) = {read};

EXPORT int CallerAccept(int fd, struct sockaddr* address, socklen_t* size)
{
  return accept(fd, address, size);
}

EXPORT int CallerConnect(int fd, const struct sockaddr* address, socklen_t size)
{
  return connect(fd, address, size);
}

EXPORT ssize_t CallerRead(int fd, void* buffer, size_t size)
{
  return read(fd, buffer, size);
}

EXPORT ssize_t CallerRecv(int fd, void* buffer, size_t size, int flags)
{
  return recv(fd, buffer, size, flags);
}

EXPORT ssize_t CallerWrite(int fd, const void* buffer, size_t size)
{
  return write(fd, buffer, size);
}

EXPORT int CallerSelect(int count, fd_set* read, fd_set* write, fd_set* except, struct timeval* t)
{
  return select(count, read, write, except, t);
}

EXPORT int CallerPoll(struct pollfd* fds, nfds_t count, int timeout)
{
  return poll(fds, count, timeout);
}

EXPORT int CallerSetSockOpt(int fd, int level, int name, const void* value, socklen_t size)
{
  return setsockopt(fd, level, name, value, size);
}

EXPORT int CallerClose(int fd)
{
  return close(fd);
}

EXPORT int CallerOpen(const char* path, int flags, mode_t mode)
{
  return open(path, flags, mode);
}

EXPORT long CallerSeek(int fd)
{
  return lseek(fd, 0, SEEK_CUR);
}

EXPORT long CallerTruncate(int fd)
{
  return ftruncate(fd, 4096);
}

EXPORT long CallerWriteAt(int fd)
{
  return pwrite(fd, "D", 1, 0);
}

EXPORT long CallerWriteAll(int fd)
{
  struct iovec none = {0, 0};
  return writev(fd, &none, 1);
}

EXPORT long CallerDuplicate(int fd)
{
  return dup(fd);
}

EXPORT FILE* CallerFopen(const char* path, const char* mode)
{
  return fopen(path, mode);
}

EXPORT int CallerFclose(FILE* stream)
{
  return fclose(stream);
}

EXPORT long CallerSync(int fd)
{
  return fdatasync(fd);
}

EXPORT int CallerLock(pthread_mutex_t* mutex)
{
  return pthread_mutex_lock(mutex);
}

EXPORT int CallerUnlock(pthread_mutex_t* mutex)
{
  return pthread_mutex_unlock(mutex);
}
