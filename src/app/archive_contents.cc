#include "app/archive_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "archive/warc_reader.h"
#include "archive/warc_visit.h"
#include "web/ascii.h"
#include "web/content_decoder.h"
#include "web/language.h"
#include "web/page.h"

namespace meguri::app {
namespace {

constexpr std::size_t kBodyBytesMax = 10'000'000;

// Without parameters and in lower case: "text/html".
std::string mime_of(const web::FieldList& fields) {
  const std::string_view value = fields.get("Content-Type").value_or("");
  std::string mime(value.substr(0, std::min(value.find(';'), value.size())));
  while (mime.ends_with(' ')) mime.pop_back();
  for (char& c : mime) c = web::to_lower(c);
  return mime.empty() ? "none" : mime;
}

std::string head_of(const archive::WarcRecord& record) {
  std::string head = fmt::format("WARC/{}\r\n", record.version);
  record.fields.append_to(&head);
  return head;
}

// A page is worth showing if it had to be understood to be read: in another language than this
// program's, with letters that ASCII lacks, yet such as every terminal has.
int merit_of(const web::Page& page, std::string_view language) {
  int merit = page.main_text.size() > 400 && !page.links.empty() ? 1 : 0;
  if (language == "de" || language == "fr" || language == "es") merit += 2;
  if (std::ranges::any_of(page.main_text, [](char c) { return (c & 0x80) != 0; })) merit += 1;
  return merit;
}

class Reader {
 public:
  explicit Reader(ArchiveContents& contents) : contents_(contents) {}

  base::Status read(const env::ReadableFile& file, const std::string& name) {
    archive::WarcReader reader(file);
    for (;;) {
      ASSIGN_OR_RETURN(const bool has_record, reader.next());
      if (!has_record) break;
      ++contents_.records[std::string(reader.record().type())];
      const auto visit = archive::visit_of(reader.record());
      if (visit && visit->purpose != "robots") RETURN_IF_ERROR(take_visit(*visit, name, reader));
      RETURN_IF_ERROR(reader.finish());
      if (!reader.record().faults.is_whole()) ++contents_.damaged;
    }
    if (!reader.record().faults.is_whole()) ++contents_.damaged;  // behind the last record
    return {};
  }

 private:
  base::Status take_visit(const archive::StoredVisit& visit, const std::string& file,
                          archive::WarcReader& reader) {
    ++contents_.visits[visit.target_uri];
    if (visit.kind == archive::StoredVisitKind::kFailure) {
      ++contents_.statuses[0];
      return {};
    }
    ASSIGN_OR_RETURN(const web::ParsedHead parsed,
                     archive::read_http_head(reader, web::HeadKind::kResponse));
    const int status = parsed.head.status;
    ++contents_.statuses[status];
    if (status < 500 && status != 408 && status != 429) ++contents_.answers[visit.target_uri];
    ASSIGN_OR_RETURN(const std::string body, archive::read_rest(reader, kBodyBytesMax));
    contents_.payload_bytes += body.size();
    if (parsed.head.status != 200) return {};
    const std::string mime = mime_of(parsed.head.fields);
    ++contents_.types[mime];
    const bool is_document = mime == "text/html" || mime == "text/css";
    if (is_document && visit.kind == archive::StoredVisitKind::kResponse) {
      take_document(visit.target_uri, file, reader.record(), parsed.head, body);
    }
    return {};
  }

  void take_document(const std::string& address, const std::string& file,
                     const archive::WarcRecord& record, const web::HttpHead& head,
                     std::string_view body) {
    const auto url = web::Url::parse(address);
    const web::DecodedContent decoded =
        web::decode_content(body, head.fields.combined("Content-Encoding"));
    web::PageContext context;
    context.url = url ? &*url : nullptr;
    context.fields = &head.fields;
    context.want_text = true;
    web::Page page = web::read_page(decoded.bytes, context);
    for (const web::PageLink& link : page.links) {
      if (link.kind == web::LinkKind::kEmbed) contents_.embeds.insert(link.url.href());
    }
    if (page.format != web::PageFormat::kHtml) return;
    const web::LanguageFinding finding =
        web::find_languages(page.main_text, {.html_lang = page.declared_language});
    const std::string language =
        finding.languages.empty() ? "unknown" : finding.languages.front().code;
    ++contents_.languages[language];

    const int merit = merit_of(page, language);
    if (contents_.sample && contents_.sample->merit >= merit) return;
    KeptPage sample;
    sample.url = address;
    sample.file = file;
    sample.offset = record.offset;
    sample.record_head = head_of(record);
    sample.http_head = head.to_bytes();
    sample.charset = web::name_of(page.charset.charset);
    sample.language = language;
    sample.title = std::move(page.title);
    sample.text = std::move(page.main_text);
    for (const web::PageLink& link : page.links) {
      if (link.kind == web::LinkKind::kNavigation) sample.links.push_back(link.url.href());
    }
    sample.merit = merit;
    contents_.sample = std::move(sample);
  }

  ArchiveContents& contents_;
};

}  // namespace

std::uint64_t ArchiveContents::file_bytes() const {
  std::uint64_t sum = 0;
  for (const WarcFileSize& file : files) sum += file.bytes;
  return sum;
}

std::uint64_t ArchiveContents::record_count() const {
  std::uint64_t sum = 0;
  for (const auto& [type, count] : records) sum += count;
  return sum;
}

base::Result<ArchiveContents> read_archive(env::FileSystem& files, const std::string& folder) {
  ArchiveContents contents;
  Reader reader(contents);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.list(folder));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::unique_ptr<env::ReadableFile> file,
                     files.open_read(folder + "/" + name));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, file->size());
    contents.files.push_back({name, bytes});
    RETURN_IF_ERROR(reader.read(*file, name));
  }
  return contents;
}

}  // namespace meguri::app
