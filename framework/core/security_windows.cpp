#include "core/security_windows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <aclapi.h>
#include <sddl.h>

#include <fmt/format.h>

#include "core/handle_windows.hpp"
#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

struct LocalFreer {
  void operator()(void* memory) const { ::LocalFree(memory); }
};
template <class T>
using Local = std::unique_ptr<T, LocalFreer>;

tl::unexpected<Error> cannot(std::string_view what, unsigned long code,
                             ErrorCode kind = ErrorCode::kIo) {
  return fail(kind, fmt::format("cannot {}: {}", what, error_text(code)), code);
}

bool is_known(PSID sid, WELL_KNOWN_SID_TYPE type) { return ::IsWellKnownSid(sid, type) != 0; }

bool is_trusted_installer(PSID sid) {
  constexpr std::array<DWORD, 6> kParts = {80,         956008885,  3418522649,
                                           1831038044, 1853292631, 2271478464};
  constexpr SID_IDENTIFIER_AUTHORITY kAuthority = SECURITY_NT_AUTHORITY;
  if (*::GetSidSubAuthorityCount(sid) != kParts.size()) return false;
  if (std::memcmp(::GetSidIdentifierAuthority(sid), &kAuthority, sizeof kAuthority) != 0) {
    return false;
  }
  for (DWORD i = 0; i < kParts.size(); ++i) {
    if (*::GetSidSubAuthority(sid, i) != kParts[i]) return false;
  }
  return true;
}

bool is_system(PSID sid) {
  return is_known(sid, WinLocalSystemSid) || is_known(sid, WinBuiltinAdministratorsSid) ||
         is_trusted_installer(sid);
}

// The owner himself, by another name.
bool is_the_owner(PSID sid) {
  return is_known(sid, WinCreatorOwnerSid) || is_known(sid, WinCreatorOwnerRightsSid);
}

OwnedBy owned_by(PSID owner, const Sid& user) {
  if (::EqualSid(owner, user.get()) != 0) return OwnedBy::kUser;
  return is_system(owner) ? OwnedBy::kSystem : OwnedBy::kOther;
}

ACCESS_MASK file_rights(ACCESS_MASK mask) {
  GENERIC_MAPPING mapping = {FILE_GENERIC_READ, FILE_GENERIC_WRITE, FILE_GENERIC_EXECUTE,
                             FILE_ALL_ACCESS};
  ::MapGenericMask(&mask, &mapping);
  return mask;
}

// One entry of a list, if it gives somebody else something.
void add_grant(const ACE_HEADER* header, const Sid& user, std::vector<Grant>& out) {
  const bool only_below = (header->AceFlags & INHERIT_ONLY_ACE) != 0;
  switch (header->AceType) {
    case ACCESS_ALLOWED_ACE_TYPE:
    case ACCESS_ALLOWED_CALLBACK_ACE_TYPE: {  // with a condition: counted as if it were met
      const auto* ace = reinterpret_cast<const ACCESS_ALLOWED_ACE*>(header);
      auto* const sid = const_cast<DWORD*>(&ace->SidStart);
      if (::EqualSid(sid, user.get()) != 0 || is_system(sid) || is_the_owner(sid)) return;
      const Sid who(sid);
      out.push_back({account_name(who), file_rights(ace->Mask), only_below, who.text()});
      return;
    }
    case ACCESS_DENIED_ACE_TYPE:
    case ACCESS_DENIED_CALLBACK_ACE_TYPE:
    case ACCESS_DENIED_OBJECT_ACE_TYPE:
    case ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE:
      return;
    default:
      out.push_back(
          {fmt::format("an entry of kind {}", header->AceType), FILE_ALL_ACCESS, only_below, {}});
  }
}

}  // namespace

Sid::Sid(PSID sid) {
  if (sid == nullptr || ::IsValidSid(sid) == 0) return;
  const auto* bytes = static_cast<const std::byte*>(sid);
  bytes_.assign(bytes, bytes + ::GetLengthSid(sid));
}

std::string Sid::text() const {
  wchar_t* raw = nullptr;
  if (empty() || ::ConvertSidToStringSidW(get(), &raw) == 0) return "nobody";
  const Local<wchar_t> text(raw);
  return narrow_lossy(text.get());
}

std::uint64_t Sid::number() const {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;  // FNV-1a
  for (const std::byte byte : bytes_) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x0000'0100'0000'01B3;
  }
  return hash >> 1;
}

Result<Sid> current_user() {
  HANDLE raw = nullptr;
  if (::OpenThreadToken(::GetCurrentThread(), TOKEN_QUERY, TRUE, &raw) == 0 &&
      ::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &raw) == 0) {
    return cannot("open this process's token", ::GetLastError());
  }
  const Handle token(raw);
  alignas(TOKEN_USER) std::byte buffer[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  DWORD size = 0;
  if (::GetTokenInformation(token.get(), TokenUser, buffer, sizeof buffer, &size) == 0) {
    return cannot("read the user of this process's token", ::GetLastError());
  }
  return Sid(reinterpret_cast<const TOKEN_USER*>(buffer)->User.Sid);
}

struct OwnerOnly::Impl {
  Sid user;
  std::vector<std::byte> acl;
  SECURITY_DESCRIPTOR descriptor{};
  SECURITY_ATTRIBUTES attributes{};
};

OwnerOnly::OwnerOnly(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OwnerOnly::OwnerOnly(OwnerOnly&&) noexcept = default;
OwnerOnly& OwnerOnly::operator=(OwnerOnly&&) noexcept = default;
OwnerOnly::~OwnerOnly() = default;

Result<OwnerOnly> OwnerOnly::make(For what) {
  auto user = current_user();
  if (!user) return tl::unexpected(user.error());
  auto impl = std::make_unique<Impl>();
  impl->user = std::move(*user);
  const DWORD size = static_cast<DWORD>(sizeof(ACL) + sizeof(ACCESS_ALLOWED_ACE) - sizeof(DWORD)) +
                     ::GetLengthSid(impl->user.get());
  impl->acl.resize(size);
  auto* const acl = reinterpret_cast<ACL*>(impl->acl.data());
  const DWORD inherit =
      what == For::kDirectory ? DWORD{CONTAINER_INHERIT_ACE | OBJECT_INHERIT_ACE} : DWORD{0};
  auto* const descriptor = &impl->descriptor;
  if (::InitializeAcl(acl, size, ACL_REVISION) == 0 ||
      ::AddAccessAllowedAceEx(acl, ACL_REVISION, inherit, GENERIC_ALL, impl->user.get()) == 0 ||
      ::InitializeSecurityDescriptor(descriptor, SECURITY_DESCRIPTOR_REVISION) == 0 ||
      ::SetSecurityDescriptorOwner(descriptor, impl->user.get(), FALSE) == 0 ||
      ::SetSecurityDescriptorDacl(descriptor, TRUE, acl, FALSE) == 0 ||
      ::SetSecurityDescriptorControl(descriptor, SE_DACL_PROTECTED, SE_DACL_PROTECTED) == 0) {
    return cannot("make an access list for the user alone", ::GetLastError());
  }
  impl->attributes = {sizeof(SECURITY_ATTRIBUTES), descriptor, FALSE};
  return OwnerOnly(std::move(impl));
}

SECURITY_ATTRIBUTES* OwnerOnly::attributes() const { return &impl_->attributes; }
PSECURITY_DESCRIPTOR OwnerOnly::descriptor() const { return &impl_->descriptor; }
PACL OwnerOnly::list() const { return reinterpret_cast<ACL*>(impl_->acl.data()); }

Result<Access> read_access(HANDLE handle, SE_OBJECT_TYPE type) {
  constexpr std::string_view kWhat = "read its owner and access list";
  const auto user = current_user();
  if (!user) return tl::unexpected(user.error());
  PSID owner = nullptr;
  PACL acl = nullptr;
  PSECURITY_DESCRIPTOR raw = nullptr;
  const DWORD code =
      ::GetSecurityInfo(handle, type, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                        &owner, nullptr, &acl, nullptr, &raw);
  if (code != ERROR_SUCCESS) return cannot(kWhat, code, ErrorCode::kUnreadable);
  const Local<void> descriptor(raw);
  if (owner == nullptr) return cannot(kWhat, ERROR_INVALID_OWNER, ErrorCode::kUnreadable);
  Access access{Sid(owner), owned_by(owner, *user), {}};
  if (acl == nullptr) {
    access.others.push_back({"Everyone", FILE_ALL_ACCESS, false, "S-1-1-0"});
    return access;
  }
  for (DWORD i = 0; i < acl->AceCount; ++i) {
    void* ace = nullptr;
    if (::GetAce(acl, i, &ace) == 0) {
      return cannot(kWhat, ::GetLastError(), ErrorCode::kUnreadable);
    }
    add_grant(static_cast<const ACE_HEADER*>(ace), *user, access.others);
  }
  return access;
}

std::string other_with(const Access& access, ACCESS_MASK rights) {
  const auto found = std::find_if(
      access.others.begin(), access.others.end(),
      [&](const Grant& grant) { return !grant.only_below && (grant.rights & rights) != 0; });
  return found == access.others.end() ? std::string() : found->who;
}

std::string account_name(const Sid& sid) {
  if (sid.empty()) return "nobody";
  constexpr std::pair<WELL_KNOWN_SID_TYPE, const char*> kNames[] = {
      {WinWorldSid, "Everyone"},          {WinAuthenticatedUserSid, "Authenticated Users"},
      {WinBuiltinUsersSid, "Users"},      {WinBuiltinAdministratorsSid, "Administrators"},
      {WinLocalSystemSid, "SYSTEM"},      {WinBuiltinGuestsSid, "Guests"},
      {WinInteractiveSid, "INTERACTIVE"},
  };
  for (const auto& [type, name] : kNames) {
    if (is_known(sid.get(), type)) return name;
  }
  return sid.text();
}

}  // namespace rollcall::core
