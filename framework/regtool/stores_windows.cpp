#include "regtool/stores.hpp"

namespace rollcall::regtool {

std::string jupyter_data_dir(const Surroundings& around) {
  if (const auto data = around.variable("APPDATA"); data && !data->empty()) {
    return *data + "\\jupyter";
  }
  return around.user_home + "\\.jupyter\\data";
}

}  // namespace rollcall::regtool
