// SPDX-License-Identifier: GPL-3.0-or-later
// What the plugin calls of the C library and glibc 2.17 does not have yet, for the portable build.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>


// glibc 2.30
pid_t gettid(void)
{
  return (pid_t)syscall(SYS_gettid);
}


// glibc 2.32
const char* sigdescr_np(int number)
{
  return number > 0 && number < NSIG ? strsignal(number) : NULL;
}


// glibc 2.34, whose own is taken where there is one. Where not, those descriptors are closed that
// are open now: one that another thread opens before the process starts, without O_CLOEXEC, it
// inherits.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int from)
{
  int (*original)(posix_spawn_file_actions_t*, int);
  *(void**)&original = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np");
  if (original != NULL)
  {
    return original(actions, from);
  }

  DIR* const folder = opendir("/proc/self/fd");
  if (folder == NULL)
  {
    return errno;
  }

  int error = 0;
  for (const struct dirent* entry = readdir(folder); entry != NULL && error == 0;
       entry = readdir(folder))
  {
    const int descriptor = atoi(entry->d_name);  // 0 for "." and ".."
    if (descriptor >= from && descriptor != dirfd(folder))
    {
      error = posix_spawn_file_actions_addclose(actions, descriptor);
    }
  }
  closedir(folder);
  return error;
}
