#include "regtool/json.hpp"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <optional>
#include <string>

#include "core/text.hpp"

namespace rollcall::regtool {
namespace {

TEST(JsonWriter, WritesOneDocumentAndANewline) {
  JsonWriter json;
  json.begin_object().text("a", "b").integer("n", -7).boolean("t", true).null("z");
  json.key("l").begin_array().text("x").integer(1).end_array().end_object();
  EXPECT_EQ(json.take(), "{\"a\":\"b\",\"n\":-7,\"t\":true,\"z\":null,\"l\":[\"x\",1]}\n");
}

TEST(JsonWriter, IsStrictUtf8WhateverTheBytes) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  JsonWriter json;
  json.begin_object().text(every, every).text("cut", "\xe2\x82").end_object();
  const std::string document = json.take();
  EXPECT_TRUE(text::is_utf8(document));
  EXPECT_NE(document.find("\\\\xff"), std::string::npos);
  EXPECT_NE(document.find("\\\\xe2\\\\x82"), std::string::npos);
  EXPECT_EQ(document.find('\x1b'), std::string::npos);
}

TEST(JsonWriter, EscapesWhatSteersATerminalAndKeepsTheValue) {
  const std::string text =
      "a\x7f\xc2\x85\xc2\x9b\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xf3\xa0\x81\x81"
      "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80z";
  JsonWriter json;
  json.begin_object().text(text, text).end_object();
  const std::string document = json.take();
  const std::string shown =
      "a\\u007f\\u0085\\u009b\\u2028\\u2029\\u202e\\u2066\\udb40\\udc41"
      "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80z";
  EXPECT_EQ(document, "{\"" + shown + "\":\"" + shown + "\"}\n");
  rapidjson::Document read;
  read.Parse(document.data(), document.size());
  ASSERT_TRUE(read.IsObject() && read.HasMember(text.c_str()));
  EXPECT_EQ(read[text.c_str()].GetString(), text);
}

TEST(JsonWriter, WritesAnEmptyReasonAsNull) {
  JsonWriter json;
  const std::optional<std::string> none;
  json.begin_object().reason("reason", "").text_or_null("url", none).end_object();
  EXPECT_EQ(json.take(), "{\"reason\":null,\"url\":null}\n");
}

}  // namespace
}  // namespace rollcall::regtool
