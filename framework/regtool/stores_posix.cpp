#include "regtool/stores.hpp"

namespace rollcall::regtool {

std::string jupyter_data_dir(const Surroundings& around) {
#if defined(__APPLE__)
  return around.user_home + "/Library/Jupyter";
#else
  if (const auto data = around.variable("XDG_DATA_HOME"); data && !data->empty()) {
    return *data + "/jupyter";
  }
  return around.user_home + "/.local/share/jupyter";
#endif
}

}  // namespace rollcall::regtool
