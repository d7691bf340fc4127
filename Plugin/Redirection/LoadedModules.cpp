// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/LoadedModules.h"

#include <algorithm>
#include <cstddef>
#include <elf.h>
#include <exception>
#include <fstream>
#include <link.h>
#include <sstream>
#include <stdexcept>
#include <sys/auxv.h>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    static_assert(sizeof(void*) == 8, "Only 64-bit architectures with RELA relocations");

#if defined(__x86_64__)
    constexpr ElfW(Xword) JUMP_SLOT = R_X86_64_JUMP_SLOT;
    constexpr ElfW(Xword) GLOB_DAT = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
    constexpr ElfW(Xword) JUMP_SLOT = R_AARCH64_JUMP_SLOT;
    constexpr ElfW(Xword) GLOB_DAT = R_AARCH64_GLOB_DAT;
#else
#error "The relocations of this architecture are not known"
#endif

    struct RelocationTable
    {
      const ElfW(Rela) * first = nullptr;
      std::size_t count = 0;
    };

    // The parts of a module's dynamic section that matter here
    struct DynamicSection
    {
      const ElfW(Sym) * symbols = nullptr;
      const char* names = nullptr;
      std::size_t namesSize = 0;
      RelocationTable plt;    // DT_JMPREL
      RelocationTable other;  // DT_RELA
    };

    template <typename T>
    T* ToPointer(ElfW(Addr) address)
    {
      return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
    }

    // glibc relocates the addresses in the dynamic section, other dynamic linkers don't.
    ElfW(Addr) Relocate(const dl_phdr_info& info, ElfW(Addr) address)
    {
      return address < info.dlpi_addr ? info.dlpi_addr + address : address;
    }

    DynamicSection ReadDynamicSection(const dl_phdr_info& info, const ElfW(Dyn) * entry)
    {
      DynamicSection section;

      for (; entry->d_tag != DT_NULL; entry++)
      {
        const ElfW(Addr) address = Relocate(info, entry->d_un.d_ptr);

        switch (entry->d_tag)
        {
          case DT_SYMTAB:
            section.symbols = ToPointer<const ElfW(Sym)>(address);
            break;
          case DT_STRTAB:
            section.names = ToPointer<const char>(address);
            break;
          case DT_STRSZ:
            section.namesSize = entry->d_un.d_val;
            break;
          case DT_JMPREL:
            section.plt.first = ToPointer<const ElfW(Rela)>(address);
            break;
          case DT_PLTRELSZ:
            section.plt.count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
          case DT_RELA:
            section.other.first = ToPointer<const ElfW(Rela)>(address);
            break;
          case DT_RELASZ:
            section.other.count = entry->d_un.d_val / sizeof(ElfW(Rela));
            break;
          default:
            break;
        }
      }

      return section;
    }

    void CollectImports(std::vector<ImportSlot>& imports, const dl_phdr_info& info,
                        const DynamicSection& section, const RelocationTable& table)
    {
      if (table.first == nullptr || section.symbols == nullptr || section.names == nullptr)
      {
        return;
      }

      for (std::size_t i = 0; i < table.count; i++)
      {
        const ElfW(Rela)& relocation = table.first[i];
        const ElfW(Xword) type = ELF64_R_TYPE(relocation.r_info);

        if (type != JUMP_SLOT && type != GLOB_DAT)
        {
          continue;
        }

        const ElfW(Word) name = section.symbols[ELF64_R_SYM(relocation.r_info)].st_name;

        if (name != 0 && name < section.namesSize)
        {
          imports.push_back(
              {section.names + name, ToPointer<void*>(info.dlpi_addr + relocation.r_offset)});
        }
      }
    }

    bool IsInSegment(const dl_phdr_info& info, const ElfW(Phdr) & segment, const void* address)
    {
      const auto value = reinterpret_cast<ElfW(Addr)>(address);
      const ElfW(Addr) begin = info.dlpi_addr + segment.p_vaddr;
      return value >= begin && value - begin < segment.p_memsz;
    }

    // The dynamic linker makes whole pages of the RELRO segment read-only, when it has done all
    // relocations of the module. A segment without a whole page tells nothing.
    bool HasWritableRelro(const dl_phdr_info& info, const ElfW(Phdr) & segment,
                          const ReadOnlyPages& readOnly)
    {
      const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
      const ElfW(Addr) begin = (info.dlpi_addr + segment.p_vaddr) / page * page;
      const ElfW(Addr) end = (info.dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
      return begin < end && !readOnly.Contains(ToPointer<const void>(begin));
    }

    LoadedModule Describe(const dl_phdr_info& info, const ReadOnlyPages& readOnly, const void* own)
    {
      LoadedModule module;
      module.path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
      module.isDynamicLinker = (info.dlpi_addr != 0 && info.dlpi_addr == getauxval(AT_BASE));

      const ElfW(Addr) vdso = getauxval(AT_SYSINFO_EHDR);
      const ElfW(Dyn)* dynamic = nullptr;

      for (ElfW(Half) i = 0; i < info.dlpi_phnum; i++)
      {
        const ElfW(Phdr)& segment = info.dlpi_phdr[i];

        if (segment.p_type == PT_DYNAMIC)
        {
          dynamic = ToPointer<const ElfW(Dyn)>(info.dlpi_addr + segment.p_vaddr);
        }
        else if (segment.p_type == PT_GNU_RELRO)
        {
          module.isBeingLoaded = HasWritableRelro(info, segment, readOnly);
        }
        else if (segment.p_type == PT_LOAD)
        {
          module.containsOwn |= IsInSegment(info, segment, own);
          module.isVirtual |= (vdso != 0 && IsInSegment(info, segment, ToPointer<void>(vdso)));
        }
      }

      if (dynamic != nullptr && !module.isVirtual)
      {
        const DynamicSection section = ReadDynamicSection(info, dynamic);
        CollectImports(module.imports, info, section, section.plt);
        CollectImports(module.imports, info, section, section.other);
      }

      return module;
    }

    struct Visit
    {
      const ReadOnlyPages& readOnly;
      const void* own;
      const std::function<void(const LoadedModule&)>& visitor;
      std::exception_ptr failure;
    };

    int OnModule(dl_phdr_info* info, std::size_t, void* payload) noexcept
    {
      auto& visit = *static_cast<Visit*>(payload);

      try
      {
        visit.visitor(Describe(*info, visit.readOnly, visit.own));
        return 0;
      }
      catch (...)
      {
        visit.failure = std::current_exception();
        return 1;
      }
    }
  }

  ReadOnlyPages::ReadOnlyPages()
  {
    std::ifstream maps("/proc/self/maps");
    std::string line;

    while (std::getline(maps, line))
    {
      std::istringstream fields(line);
      Range range = {};
      char dash = 0;
      std::string permissions;
      fields >> std::hex >> range.begin >> dash >> range.end >> permissions;

      if (fields && permissions.compare(0, 2, "r-") == 0)
      {
        ranges_.push_back(range);
      }
    }

    if (ranges_.empty())
    {
      throw std::runtime_error("/proc/self/maps cannot be read");
    }
  }

  bool ReadOnlyPages::Contains(const void* address) const
  {
    const auto value = reinterpret_cast<std::uintptr_t>(address);

    // The kernel lists the ranges in ascending order.
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), value,
                         [](std::uintptr_t v, const Range& r) { return v < r.begin; });

    return after != ranges_.begin() && value < std::prev(after)->end;
  }

  void VisitLoadedModules(const ReadOnlyPages& readOnly, const void* own,
                          const std::function<void(const LoadedModule&)>& visitor)
  {
    Visit visit = {readOnly, own, visitor, nullptr};
    dl_iterate_phdr(OnModule, &visit);

    if (visit.failure != nullptr)
    {
      std::rethrow_exception(visit.failure);
    }
  }
}
