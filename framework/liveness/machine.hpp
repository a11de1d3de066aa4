// What is asked of a probe before anything is judged or written: which machine this is, and who a
// process is. Threads: as the probe's.
#pragma once

#include <cstdint>
#include <string_view>

#include "rollcall/call.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// This machine as classify() wants it. Pure.
[[nodiscard]] Here here_of(WhoAmI who, HomeKind home);

// The same, read now. Errors: the probe's.
[[nodiscard]] Result<Here> read_here(ProcessProbe& probe, HomeKind home, const Call& call);

// Whether an identity may be written down: a writer that cannot read one writes nothing.
// `token_why`, `boot_why`: why a part is missing, where that is known. Errors: kUnreadable.
[[nodiscard]] Status check_identity_is_whole(const ProcessIdentity& identity,
                                             std::string_view token_why, std::string_view boot_why);

// The identity of any process, read now, as a writer would record it. Errors: kInvalid (no pid),
// kNotFound (proven: no process holds it), kUnreadable.
[[nodiscard]] Result<ProcessIdentity> identify_process(ProcessProbe& probe, std::int64_t pid,
                                                       const Call& call);

// The calling process's. Errors: kUnreadable and the probe's.
[[nodiscard]] Result<ProcessIdentity> identify_self(ProcessProbe& probe, const Call& call);

// One reading and its verdict. Errors: the process could not be asked for.
struct Judged {
  Observation read;
  Classification process;
};
[[nodiscard]] Result<Judged> judge_process(ProcessProbe& probe, const ProcessIdentity& recorded,
                                           const Here& here, const Call& call);

}  // namespace rollcall
