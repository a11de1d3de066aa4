#include "core/secret_name.hpp"

#include <gtest/gtest.h>

namespace rollcall::core {
namespace {

TEST(SecretName, KnowsTheUsualNames) {
  for (const char* key : {"token", "secret", "password", "passwd", "passphrase", "credentials",
                          "authorization", "Authorization", "apikey", "API_KEY", "api-key",
                          "private_key", "door_token", "DbPassword", "token_2"}) {
    EXPECT_TRUE(names_a_secret(key)) << key;
  }
}

TEST(SecretName, LeavesOthers) {
  for (const char* key : {"", "path", "team", "owner", "kind", "compass"}) {
    EXPECT_FALSE(names_a_secret(key)) << key;
  }
}

}  // namespace
}  // namespace rollcall::core
