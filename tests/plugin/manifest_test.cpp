#include "plugin/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::testing {
namespace {

using loader::parse_manifest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kGood = R"({
  "schema": "rollcall.plugin/1",
  "id": "com.example.heartbeat",
  "version": "1.2.3",
  "vendor": "Example Ltd",
  "library": "heartbeat.so",
  "abi": {"major": 1, "minor": 0, "minor_required": 0},
  "interfaces": ["rollcall.process-probe/1", "rollcall.door-prober/1"],
  "door_kinds": ["heartbeat"],
  "wants_token": true,
  "platforms": ["linux"]
})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const auto at = text.find(from);
  if (at == text.npos) throw std::logic_error("no such text: " + from);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  const auto manifest = parse_manifest(text);
  return manifest ? std::string("accepted") : manifest.error().message;
}

TEST(Manifest, IsReadWhole) {
  const auto manifest = parse_manifest(kGood);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->id, "com.example.heartbeat");
  EXPECT_EQ(manifest->version, "1.2.3");
  EXPECT_EQ(manifest->vendor, "Example Ltd");
  EXPECT_EQ(manifest->library, "heartbeat.so");
  EXPECT_EQ(manifest->abi, (loader::AbiVersion{1, 0}));
  EXPECT_THAT(manifest->interfaces,
              ElementsAre("rollcall.process-probe/1", "rollcall.door-prober/1"));
  EXPECT_THAT(manifest->door_kinds, ElementsAre("heartbeat"));
  EXPECT_TRUE(manifest->wants_token);
  EXPECT_THAT(manifest->platforms, ElementsAre("linux"));
}

TEST(Manifest, WantsNoTokenAndIsForAnyPlatformUnlessItSaysSo) {
  const std::string text = with(R"("wants_token": true,
  "platforms": ["linux"])",
                                R"("x": 0)");
  const auto manifest = parse_manifest(text);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_FALSE(manifest->wants_token);
  EXPECT_TRUE(manifest->platforms.empty());
}

TEST(Manifest, MayHoldKeysThatLaterVersionsAdd) {
  EXPECT_EQ(refusal(with(R"("vendor")", R"("later": {"a": [1]}, "vendor")")), "accepted");
}

TEST(Manifest, LacksNoKey) {
  for (const char* key : {"schema", "id", "version", "vendor", "library", "abi"}) {
    EXPECT_THAT(refusal(with("\"" + std::string(key) + "\"", "\"x\"")),
                HasSubstr("\"" + std::string(key) + "\" is missing"));
  }
  for (const char* key : {"major", "minor_required"}) {
    EXPECT_THAT(refusal(with("\"" + std::string(key) + "\"", "\"x\"")),
                HasSubstr("\"abi." + std::string(key) + "\" is missing"));
  }
}

TEST(Manifest, HoldsNoKeyTwice) {
  EXPECT_THAT(refusal(with(R"("vendor")", R"("id": "com.example.other", "vendor")")),
              HasSubstr("\"id\" stands twice"));
  EXPECT_THAT(refusal(with(R"("major": 1)", R"("major": 1, "major": 2)")),
              HasSubstr("\"abi.major\" stands twice"));
}

TEST(Manifest, HoldsValuesOfTheirType) {
  EXPECT_THAT(refusal(with(R"("1.2.3")", "1")), HasSubstr("\"version\" is no string"));
  EXPECT_THAT(refusal(with(R"("wants_token": true)", R"("wants_token": "yes")")),
              HasSubstr("\"wants_token\" is no boolean"));
  EXPECT_THAT(refusal(with(R"("major": 1)", R"("major": -1)")), HasSubstr("no whole number"));
  EXPECT_THAT(refusal(with(R"("major": 1)", R"("major": 1.5)")), HasSubstr("no whole number"));
  EXPECT_THAT(refusal(with(R"("major": 1)", R"("major": 4294967296)")),
              HasSubstr("no whole number"));
  EXPECT_THAT(refusal(with(R"({"major": 1, "minor": 0, "minor_required": 0})", "[]")),
              HasSubstr("\"abi\" is no object"));
  EXPECT_THAT(refusal(with(R"(["linux"])", R"("linux")")), HasSubstr("\"platforms\" is no list"));
  EXPECT_THAT(refusal(with(R"(["linux"])", R"(["beos"])")), HasSubstr("\"platforms\" holds"));
  EXPECT_THAT(refusal(with(R"(["linux"])", R"(["linux", "linux"])")), HasSubstr("twice"));
}

TEST(Manifest, HasAnIdThatIsReverseDns) {
  for (const char* id : {"", "heartbeat", "Com.Example", "com..example", ".com", "com.", "a b.c",
                         "com/example.x", "com.ex\\u0000"}) {
    EXPECT_NE(refusal(with("com.example.heartbeat", id)), "accepted") << id;
  }
}

TEST(Manifest, NamesALibraryBesideIt) {
  for (const char* library :
       {"", ".", "..", "../x.so", "/x.so", "a/b.so", ".hidden.so", "x y.so", "x\\ny.so"}) {
    EXPECT_THAT(refusal(with("heartbeat.so", library)), HasSubstr("no bare file name")) << library;
  }
}

TEST(Manifest, GivesKindsOfDoorsWithADoorProberOnly) {
  EXPECT_THAT(refusal(with(R"("door_kinds": ["heartbeat"],)", "")), HasSubstr("come together"));
  EXPECT_THAT(refusal(with(R"(, "rollcall.door-prober/1")", "")), HasSubstr("come together"));
  EXPECT_THAT(refusal(with(R"(["heartbeat"])", R"(["Heart Beat"])")), HasSubstr("\"door_kinds\""));
}

TEST(Manifest, OffersSomething) {
  EXPECT_THAT(refusal(with(R"("rollcall.process-probe/1", "rollcall.door-prober/1")", "")),
              HasSubstr("\"interfaces\" is empty"));
  EXPECT_THAT(refusal(with("rollcall.process-probe/1", "process-probe")),
              HasSubstr("\"interfaces\" holds an item that cannot be one"));
}

TEST(Manifest, OfAnotherSchemaIsNotRead) {
  EXPECT_THAT(refusal(with("rollcall.plugin/1", "rollcall.plugin/2")),
              HasSubstr("its schema is \"rollcall.plugin/2\""));
}

TEST(Manifest, IsOneDocumentOfBoundedSizeAndDepth) {
  EXPECT_THAT(refusal(""), HasSubstr("no JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal(kGood + "x"), HasSubstr("no JSON"));
  EXPECT_THAT(refusal(kGood + std::string(1, '\0')), HasSubstr("NUL"));
  EXPECT_THAT(refusal(with("Example Ltd", "\xff")), HasSubstr("no JSON"));
  EXPECT_THAT(refusal(kGood + std::string(loader::kMaxManifestBytes, ' ')),
              HasSubstr("more than 16384 bytes"));
  EXPECT_THAT(refusal(std::string(10000, '[')), HasSubstr("nested deeper than 8"));
  EXPECT_THAT(refusal(std::string(7, '[') + R"("]]]{{{{{{{{{{")"), HasSubstr("no JSON"));
}

}  // namespace
}  // namespace rollcall::testing
