#include "core/secret_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace rollcall::core {
namespace {

TEST(SecretName, KnowsTheUsualNames) {
  for (const char* key :
       {"token",         "secret",        "password",    "passwd",     "passphrase", "credentials",
        "authorization", "Authorization", "apikey",      "API_KEY",    "api-key",    "private_key",
        "door_token",    "DbPassword",    "token_2",     "PASS",       "SSHPASS",    "PGPASS",
        "smtp_pass",     "SMTP_PASS_2",   "--pass",      "AUTH",       "PROXY-AUTH", "oauth",
        "X-Auth",        "JWT",           "SessionJwt",  "COOKIE",     "Set-Cookie", "cookies",
        "PAT",           "GITHUB_PAT",    "githubPat",   "OPENAI_KEY", "openaiKey",  "_KEY",
        "MYSQL_PWD",     "Mysql_Pwd",     "-Dhttp.auth", "X-Api-Key",  "KEY_2_PAT1", "passcode"}) {
    EXPECT_TRUE(names_a_secret(key)) << key;
  }
}

TEST(SecretName, LeavesOthers) {
  for (const char* key :
       {"",       "path",   "PATH",          "team",   "owner",         "kind",   "compass",
        "BYPASS", "COMPAT", "spat",          "author", "authority",     "PWD",    "OLDPWD",
        "MONKEY", "key",    "KEY_FILE_MODE", "TERM",   "SSH_AUTH_SOCK", "passes", "--verbose",
        "--",     "2",      "XAUTHORITY"}) {
    EXPECT_FALSE(names_a_secret(key)) << key;
  }
}

std::string hidden(std::string text) {
  const TextPart secret = find_secret(text);
  return secret.size == 0 ? text : text.replace(secret.at, secret.size, "#");
}

TEST(FindSecret, FindsTheFirstSecretOfAText) {
  const std::array<std::array<const char*, 2>, 28> cases = {{
      {"Authorization: Bearer zzz", "Authorization: #"},
      {"Authorization: Basic YTpi=", "Authorization: #"},
      {"-HCookie: a=b; c=d", "-HCookie: #"},
      {"X-Api-Key:k", "X-Api-Key:#"},
      {"--header=Authorization: Bearer zzz", "--header=Authorization: #"},
      {"x bearer  zzz", "x bearer  #"},
      {"BEARER\tzzz", "BEARER\t#"},
      {"MY_SECRET=1 x", "MY_SECRET=#"},
      {"a token of=1", "a token of=#"},
      {"Server=a;Uid=b;Password=b", "Server=a;Uid=b;Password=#"},
      {"Server=a;Pwd=b", "Server=a;Pwd=#"},
      {"cd x; PWD=/x", "cd x; PWD=/x"},
      {R"({"user":"a","password" : "b"})", R"({"user":"a","password" : #)"},
      {"{'pass': 'b'}", "{'pass': #"},
      {"mysql --password b", "mysql --password #"},
      {"https://h/p?access_token=b", "https://h/p?access_token=#"},
      {"user:pw@host", "#@host"},
      {"user:p@w@tcp(host)/db", "#@tcp(host)/db"},
      {"https://h/ https://me@h/", "https://h/ https://#@h/"},
      {"https://me:pw@h/x@y", "https://#@h/x@y"},
      {"postgres://localhost/db?to=a@b", "postgres://localhost/db?to=a@b"},
      {"git@example.org:a/b", "git@example.org:a/b"},
      {"/usr/bin:/opt/secrets:/bin", "/usr/bin:/opt/secrets:/bin"},
      {"unix:path=/run/user/0/bus", "unix:path=/run/user/0/bus"},
      {"12:30", "12:30"},
      {"password:", "password:"},
      {"bearer", "bearer"},
      {"", ""},
  }};
  for (const auto& [text, expected] : cases) EXPECT_EQ(hidden(text), expected) << text;
}

}  // namespace
}  // namespace rollcall::core
