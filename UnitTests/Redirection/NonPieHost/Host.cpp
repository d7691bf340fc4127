// SPDX-License-Identifier: GPL-3.0-or-later
// An executable without PIE that takes the address of recv, as one with SQLite in it takes those of
// read and write: all modules then get the address of its PLT (System V ABI, AMD64 supplement,
// section 5.2). It loads a module with the probe, which must not call itself for ever.
#include <dlfcn.h>
#include <sys/socket.h>

int main(int count, char** arguments)
{
  void* const module = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;

  if (module == nullptr)
  {
    return 2;
  }

  auto* const tryProbe = reinterpret_cast<int (*)(decltype(&recv))>(dlsym(module, "TryProbe"));
  return tryProbe == nullptr ? 3 : tryProbe(&recv);
}
