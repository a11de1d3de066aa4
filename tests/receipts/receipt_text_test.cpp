// Reading and writing a receipt, its endpoint and its address.
#include <gtest/gtest.h>

#include <string>

#include "receipts/receipt_samples.hpp"

namespace rollcall {
namespace {

using test::kReceiptId;
using test::kReceiptToken;
using test::sample_receipt;
using test::sample_text;
using test::with;

std::string problem_of(const std::string& text) {
  const auto read = parse_receipt(text, kReceiptId);
  return read ? "(it was read)" : read.error().text;
}

TEST(Endpoint, IsThePrefixAndThirtyTwoLowerCaseHexDigits) {
  const std::string endpoint = format_endpoint(kReceiptId);
  EXPECT_EQ(endpoint, "rollcall-live://00112233445566778899aabbccddeeff");
  EXPECT_EQ(parse_endpoint(endpoint).value(), kReceiptId);
}

TEST(Endpoint, OfAnyOtherShapeIsRefused) {
  for (const char* text :
       {"", "rollcall-live://", "00112233445566778899aabbccddeeff",
        "rollcall-live://00112233445566778899AABBCCDDEEFF",
        "rollcall-live://00112233445566778899aabbccddeef",
        "rollcall-live://00112233445566778899aabbccddeeff0",
        "rollcall-live://../../../../etc/passwd0000000000",
        "supercode-live://00112233445566778899aabbccddeeff",
        "rollcall-live://00112233445566778899aabbccddeeff/", " rollcall-live://0"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

TEST(BaseUrl, IsLoopbackHttpWithAPlainPathOrNone) {
  for (const char* url :
       {"http://127.0.0.1:80", "http://127.0.0.1:80/", "http://127.0.0.53:1", "http://[::1]:8080",
        "http://localhost:65535", "http://localhost:80/api/v1", "http://127.0.0.1:80/a-b_c.d~e/"}) {
    EXPECT_TRUE(check_base_url(url)) << url;
  }
}

TEST(BaseUrl, ThatOnlyLooksLikeLoopbackIsRefused) {
  for (const char* url :
       {"http://localhost:80@evil.example/", "http://127.0.0.1@evil.example/",
        "http://localhost.evil.example/", "http://localhost.evil.example:80/",
        "http://127.0.0.1.evil.example:80/", "http://localhostile:80", "http://user@127.0.0.1:80/",
        "http://127.0.0.1:80/@evil.example", "http://127.0.0.1:80\\@evil.example/",
        "http:\\\\127.0.0.1:80", "http://evil.example\\@127.0.0.1:80",
        "http://127.0.0.1:80?x=http://evil.example", "http://127.0.0.1:80#x",
        "http://127.0.0.1:80/%2e%2e", "http://127.0.0.1:80/a?b"}) {
    EXPECT_FALSE(check_base_url(url)) << url;
  }
}

TEST(BaseUrl, InAnotherSpellingOfLoopbackIsRefused) {
  for (const char* url : {"http://[0:0:0:0:0:0:0:1]:80", "http://127.1:80", "http://2130706433:80",
                          "http://0x7f.1:80", "http://[::ffff:127.0.0.1]:80", "http://0.0.0.0:80",
                          "http://[::]:80", "http://[fe80::1%lo]:80", "http://LOCALHOST:80",
                          "http://127.0.0.1.:80", "http://127.0.0.01:80"}) {
    EXPECT_FALSE(check_base_url(url)) << url;
  }
}

TEST(BaseUrl, OfAnotherSchemeOrWithoutAPortIsRefused) {
  for (const char* url :
       {"https://127.0.0.1:80", "127.0.0.1:80", "HTTP://127.0.0.1:80", "ftp://127.0.0.1:80",
        "http://127.0.0.1", "http://127.0.0.1:0", "http://127.0.0.1:65536", "http:///", "",
        "http://", " http://127.0.0.1:80", "http://127.0.0.1:80\n"}) {
    EXPECT_FALSE(check_base_url(url)) << url;
  }
}

TEST(ReceiptText, IsReadBackAsItWasWritten) {
  Receipt receipt = sample_receipt();
  receipt.process.exact_id = "18446744073709551615";
  receipt.process.pid_namespace = "4026531836";
  receipt.metadata.profile = "fast";
  receipt.metadata.persistence_location = "/var/lib/x";
  receipt.metadata.endpoint_capabilities = {"http", "acp"};
  receipt.metadata.supervisor = ReceiptSupervisor{"tmux", "main", R"({"window":3})"};
  receipt.metadata.unknown_json = R"({"colour":["red",{"a":null}]})";
  const auto read = parse_receipt(serialize_receipt(receipt).value(), kReceiptId);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->runtime_session_id, "rt_1");
  EXPECT_EQ(read->source, receipt.source);
  EXPECT_EQ(read->base_url, receipt.base_url);
  EXPECT_EQ(read->token, kReceiptToken);
  EXPECT_EQ(read->process, receipt.process);
  EXPECT_EQ(read->created_at_ms, receipt.created_at_ms);
  EXPECT_EQ(read->metadata, receipt.metadata);
}

TEST(ReceiptText, KeepsAWorkspaceThatIsNotUtf8) {
  Receipt receipt = sample_receipt();
  receipt.source.workspace = "/srv/\xff\xfe";
  const auto read = parse_receipt(serialize_receipt(receipt).value(), kReceiptId);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->source.workspace, "/srv/\xff\xfe");
}

TEST(ReceiptText, WithoutMetadataReadsAsEmpty) {
  const auto read = parse_receipt(with(sample_text(), R"(,"metadata":{})", ""), kReceiptId);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->metadata, ReceiptMetadata());
}

TEST(ReceiptText, KeepsMetadataOfAnotherShape) {
  const auto read = parse_receipt(
      with(sample_text(), R"("metadata":{})",
           R"("metadata":{"profile":7,"endpoint_capabilities":["a",1],"supervisor":{"kind":"x"}})"),
      kReceiptId);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->metadata.profile, std::nullopt);
  EXPECT_TRUE(read->metadata.endpoint_capabilities.empty());
  ASSERT_TRUE(read->metadata.supervisor);
  EXPECT_EQ(read->metadata.supervisor->kind, "x");
  EXPECT_EQ(read->metadata.unknown_json, R"({"profile":7,"endpoint_capabilities":["a",1]})");
}

TEST(ReceiptText, WithAByteOrderMarkAndCrLfIsRead) {
  EXPECT_TRUE(parse_receipt("\xEF\xBB\xBF" + sample_text() + "\r\n", kReceiptId));
}

TEST(ReceiptText, ThatIsEmptyZeroFilledHalfOrNoUtf8IsRefused) {
  const std::string text = sample_text();
  EXPECT_EQ(problem_of(""), "it is empty");
  EXPECT_EQ(problem_of(std::string(4096, '\0')), "it holds nothing but zero bytes");
  EXPECT_EQ(problem_of(with(text, "rt_1", "rt_\xff")), "it is not UTF-8");
  EXPECT_FALSE(parse_receipt(text.substr(0, text.size() / 2), kReceiptId));
  EXPECT_FALSE(parse_receipt(text + "x", kReceiptId));
  EXPECT_FALSE(parse_receipt("[" + text + "]", kReceiptId));
  EXPECT_FALSE(parse_receipt(std::string("\xFF\xFE{\0", 4), kReceiptId));
}

TEST(ReceiptText, WithAKeyTwiceIsRefused) {
  const std::string text = sample_text();
  EXPECT_FALSE(parse_receipt(with(text, R"("pid":4242)", R"("pid":4242,"pid":1)"), kReceiptId));
  EXPECT_FALSE(parse_receipt(with(text, R"("harness":"acp")", R"("harness":"acp","harness":"b")"),
                             kReceiptId));
  EXPECT_FALSE(
      parse_receipt(with(text, R"("metadata":{})", R"("metadata":{"a":1,"a":2})"), kReceiptId));
}

TEST(ReceiptText, WithAPidThatIsNoneIsRefused) {
  for (const char* pid : {"0", "-1", "-2", "2147483648", "4294967295", "18446744073709551616",
                          "4242.0", "4.242e3", "\"4242\"", "null", "true", "[5]", "1e400"}) {
    EXPECT_FALSE(parse_receipt(with(sample_text(), "\"pid\":4242", std::string("\"pid\":") + pid),
                               kReceiptId))
        << pid;
  }
}

TEST(ReceiptText, LacksNothingThatIsRequired) {
  for (const char* member : {R"("schema":"rollcall.receipt/1",)", R"("runtime_session_id":"rt_1",)",
                             R"("harness":"acp",)", R"("base_url":"http://127.0.0.1:4096",)",
                             R"("token":"tok-Very-Secret",)", R"("pid":4242,)",
                             R"("process_start":"77",)", R"("created_at_ms":1700000000000,)"}) {
    EXPECT_FALSE(parse_receipt(with(sample_text(), member, ""), kReceiptId)) << member;
  }
}

TEST(ReceiptText, OfANewerSchemaIsToldFromAnotherFormat) {
  const auto newer =
      parse_receipt(with(sample_text(), "rollcall.receipt/1", "rollcall.receipt/2"), kReceiptId);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().problem, RecordProblem::kNewerSchema);
  const auto foreign =
      parse_receipt(with(sample_text(), "rollcall.receipt/1", "rollcall.record/1"), kReceiptId);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().problem, RecordProblem::kInvalid);
}

TEST(ReceiptText, OfAnotherIdThanItsFilesNameIsAMismatch) {
  const auto read = parse_receipt(sample_text(), "ff112233445566778899aabbccddeeff");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().problem, RecordProblem::kNameMismatch);
}

TEST(ReceiptText, WhoseAddressIsNotLoopbackIsRefusedOnReadingToo) {
  EXPECT_FALSE(parse_receipt(with(sample_text(), "127.0.0.1", "10.0.0.1"), kReceiptId));
}

TEST(ReceiptText, WithAnEmptyPartOfTheIdentityNamesItsProcessByPidAlone) {
  const auto read =
      parse_receipt(with(sample_text(), R"("boot_id":"boot-a")", R"("boot_id":"")"), kReceiptId);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->process.start_token, "");
  EXPECT_EQ(read->process.boot_id, std::nullopt);
}

TEST(ReceiptText, NoProblemTellsTheToken) {
  for (const std::string& text :
       {with(sample_text(), "\"pid\":4242", "\"pid\":0"), sample_text() + "x",
        with(sample_text(), "tok-Very-Secret", "tok-Very-Secret "),
        with(sample_text(), "127.0.0.1", "10.0.0.1")}) {
    EXPECT_EQ(problem_of(text).find("Very-Secret"), std::string::npos) << problem_of(text);
  }
}

TEST(ReceiptText, IsNotWrittenWithABlankNameOrABadToken) {
  const auto refuses = [](auto change) {
    Receipt receipt = sample_receipt();
    change(receipt);
    const auto text = serialize_receipt(receipt);
    return !text && text.error().message.find("Secret") == std::string::npos;
  };
  EXPECT_TRUE(refuses([](Receipt& r) { r.runtime_session_id = " \t"; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.source.harness = ""; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.source.session_id = "\n"; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.source.workspace = ""; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.token = ""; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.token = "Secret\r\nX: y"; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.base_url = "http://example.org:80"; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.process.pid = 0; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.process.boot_id = ""; }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.metadata.profile = std::string(70'000, 'x'); }));
  EXPECT_TRUE(refuses([](Receipt& r) { r.metadata.unknown_json = "[1]"; }));
}

}  // namespace
}  // namespace rollcall
