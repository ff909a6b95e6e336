#include "sim/prose.h"

#include <array>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "sim/dice.h"
#include "web/charset.h"

namespace meguri::sim {
namespace {

using Words = std::span<const std::string_view>;

enum Purpose : std::uint64_t { kProse = 400, kTitle, kSentence };

constexpr std::size_t kSentences = 4096;  // of a language: few enough to stay in a cache
constexpr std::size_t kRun = 4;           // sentences that are taken together

constexpr auto kEnglish = std::to_array<std::string_view>(
    {"the",     "of",      "and",    "to",      "in",     "is",     "that",    "for",     "it",
     "was",     "with",    "as",     "his",     "on",     "be",     "at",      "by",      "had",
     "not",     "are",     "but",    "from",    "or",     "have",   "an",      "they",    "which",
     "one",     "you",     "were",   "her",     "all",    "she",    "there",   "would",   "their",
     "we",      "him",     "been",   "has",     "when",   "who",    "will",    "more",    "no",
     "if",      "out",     "so",     "said",    "what",   "up",     "its",     "about",   "into",
     "than",    "them",    "can",    "only",    "other",  "new",    "some",    "could",   "time",
     "these",   "two",     "may",    "then",    "do",     "first",  "any",     "my",      "now",
     "such",    "like",    "our",    "over",    "man",    "me",     "even",    "most",    "made",
     "after",   "also",    "did",    "many",    "before", "must",   "through", "back",    "years",
     "where",   "much",    "your",   "way",     "well",   "down",   "should",  "because", "each",
     "just",    "those",   "people", "how",     "too",    "little", "state",   "good",    "very",
     "make",    "world",   "still",  "own",     "see",    "men",    "work",    "long",    "get",
     "here",    "between", "both",   "life",    "being",  "under",  "never",   "day",     "same",
     "another", "know",    "while",  "last",    "might",  "us",     "great",   "old",     "year",
     "off",     "come",    "since",  "against", "go",     "came",   "right",   "used",    "take"});
constexpr auto kGerman = std::to_array<std::string_view>(
    {"der",    "die",   "und",      "in",     "den",       "von",    "zu",     "das",    "mit",
     "sich",   "des",   "auf",      "für",    "ist",       "im",     "dem",    "nicht",  "ein",
     "eine",   "als",   "auch",     "es",     "an",        "werden", "aus",    "er",     "hat",
     "dass",   "sie",   "nach",     "wird",   "bei",       "einer",  "um",     "am",     "sind",
     "noch",   "wie",   "einem",    "über",   "einen",     "so",     "zum",    "war",    "haben",
     "nur",    "oder",  "aber",     "vor",    "zur",       "bis",    "mehr",   "durch",  "man",
     "sein",   "wurde", "sei",      "hatte",  "kann",      "gegen",  "vom",    "können", "schon",
     "wenn",   "habe",  "seine",    "ihre",   "dann",      "unter",  "wir",    "soll",   "ich",
     "eines",  "Jahr",  "zwei",     "Jahren", "diese",     "dieser", "wieder", "keine",  "seiner",
     "worden", "will",  "zwischen", "immer",  "Millionen", "was",    "sagte",  "Zeit",   "Stadt"});
constexpr auto kFrench = std::to_array<std::string_view>(
    {"de",    "la",    "le",    "et",     "les",    "des",   "en",    "un",     "du",     "une",
     "que",   "est",   "pour",  "qui",    "dans",   "a",     "par",   "plus",   "pas",    "au",
     "sur",   "ne",    "se",    "ce",     "il",     "sont",  "avec",  "son",    "sa",     "ses",
     "mais",  "comme", "on",    "tout",   "nous",   "aux",   "cette", "été",    "leur",   "fait",
     "être",  "même",  "aussi", "bien",   "peut",   "ces",   "sans",  "deux",   "ou",     "où",
     "entre", "après", "temps", "années", "ans",    "très",  "sous",  "contre", "encore", "ont",
     "était", "elle",  "lui",   "faire",  "depuis", "monde", "ville", "pays",   "jour",   "vie"});
constexpr auto kSpanish = std::to_array<std::string_view>(
    {"de",  "la",      "que",  "el",    "en",    "y",      "a",    "los",   "se",    "del",
     "las", "un",      "por",  "con",   "no",    "una",    "su",   "para",  "es",    "al",
     "lo",  "como",    "más",  "o",     "pero",  "sus",    "le",   "ha",    "me",    "si",
     "sin", "sobre",   "este", "ya",    "entre", "cuando", "todo", "esta",  "ser",   "son",
     "dos", "también", "fue",  "había", "era",   "muy",    "años", "hasta", "desde", "está",
     "mi",  "porque",  "qué",  "sólo",  "han",   "yo",     "hay",  "vez",   "puede", "todos",
     "así", "nos",     "ni",   "parte", "tiene", "él",     "uno",  "donde", "bien",  "tiempo"});
constexpr auto kRussian = std::to_array<std::string_view>(
    {"и",      "в",     "не",    "на",   "что",  "я",      "с",    "он",      "а",      "как",
     "это",    "по",    "но",    "они",  "к",    "у",      "его",  "за",      "из",     "то",
     "от",     "так",   "же",    "бы",   "для",  "мы",     "вы",   "все",     "она",    "было",
     "только", "меня",  "ещё",   "был",  "уже",  "когда",  "или",  "ни",      "быть",   "нет",
     "до",     "если",  "время", "год",  "лет",  "жизнь",  "день", "рука",    "раз",    "работа",
     "слово",  "место", "лицо",  "друг", "глаз", "вопрос", "дом",  "сторона", "страна", "мир"});
// Japanese has no spaces: pieces that follow each other.
constexpr auto kJapanese = std::to_array<std::string_view>(
    {"の",       "に",         "は",       "を",         "た",       "が",     "で",     "と",
     "し",       "れ",         "さ",       "ある",       "いる",     "も",     "する",   "から",
     "な",       "こと",       "として",   "い",         "や",       "れる",   "など",   "なっ",
     "ない",     "この",       "ため",     "その",       "あっ",     "よう",   "また",   "もの",
     "という",   "あり",       "まで",     "られ",       "なる",     "へ",     "か",     "だ",
     "これ",     "によって",   "により",   "おり",       "より",     "による", "ず",     "なり",
     "られる",   "において",   "日本",     "時間",       "世界",     "東京",   "会社",   "学校",
     "今日",     "問題",       "情報",     "生活",       "文化",     "歴史",   "社会",   "経済",
     "研究",     "技術",       "写真",     "音楽",       "新しい",   "大きな", "多くの", "始まった",
     "行われた", "考えられる", "発表した", "紹介します", "利用する", "必要",   "場所",   "地域"});

Words words_of(Language language) {
  switch (language) {
    case Language::kEnglish: return kEnglish;
    case Language::kJapanese: return kJapanese;
    case Language::kGerman: return kGerman;
    case Language::kFrench: return kFrench;
    case Language::kSpanish: return kSpanish;
    case Language::kRussian: return kRussian;
  }
  return kEnglish;
}

// Words come by Zipf's law, nearly: the logarithm of the rank is uniform.
std::string_view draw(Words words, Dice& dice) {
  const double rank = exp_of(dice.uniform() * log_of(static_cast<double>(words.size() + 1))) - 1;
  return words[static_cast<std::size_t>(rank) % words.size()];
}

void append_sentence(Language language, Dice& dice, std::string* out) {
  const Words words = words_of(language);
  const std::uint64_t count = 6 + dice.below(14);
  if (language == Language::kJapanese) {
    for (std::uint64_t i = 0; i < count; ++i) {
      out->append(draw(words, dice));
      if (i % 7 == 6) out->append("、");
    }
    out->append("。");
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0) out->push_back(' ');
    const std::size_t begin = out->size();
    out->append(draw(words, dice));
    char& first = (*out)[begin];
    if (i == 0 && first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  }
  out->append(". ");
}

// `utf8` in a charset that has all its characters.
std::string encoded(std::string_view utf8, web::Charset charset) {
  if (charset == web::Charset::kUtf8) return std::string(utf8);
  web::Encoder encoder(charset);
  std::string out;
  while (!utf8.empty()) {
    const base::CodePoint c = base::first_code_point(utf8);
    utf8.remove_prefix(c.length);
    CHECK(!encoder.append(c.value, &out), "a word that its charset cannot write");
  }
  encoder.finish(&out);
  return out;
}

// What is round Japanese text in ISO-2022-JP. Two of these without text between them are an error.
constexpr std::string_view kShiftIn = "\x1b$B";
constexpr std::string_view kShiftOut = "\x1b(B";

// The sentences of a script, drawn and encoded once: to draw every word of every page anew would
// take ten times as long as all the rest of a page. In ISO-2022-JP without their shifts.
class Pool {
 public:
  explicit Pool(const Script& script) {
    text_.reserve(kSentences * 100);
    for (std::size_t i = 0; i < kSentences; ++i) {
      Dice dice{kSentence, static_cast<std::uint64_t>(script.language), i};
      std::string sentence;
      append_sentence(script.language, dice, &sentence);
      utf8_begins_[i + 1] = utf8_begins_[i] + static_cast<std::uint32_t>(sentence.size());
      begins_[i] = static_cast<std::uint32_t>(text_.size());
      std::string_view bytes = sentence = encoded(sentence, script.charset);
      if (script.charset == web::Charset::kIso2022Jp) {
        CHECK(bytes.starts_with(kShiftIn) && bytes.ends_with(kShiftOut));
        bytes = bytes.substr(kShiftIn.size(), bytes.size() - kShiftIn.size() - kShiftOut.size());
      }
      text_ += bytes;
    }
    begins_[kSentences] = static_cast<std::uint32_t>(text_.size());
  }

  // Some that follow each other, from the i-th on.
  std::string_view run(std::size_t i) const {
    return std::string_view(text_).substr(begins_[i], begins_[i + kRun] - begins_[i]);
  }
  std::size_t utf8_bytes(std::size_t i) const { return utf8_begins_[i + kRun] - utf8_begins_[i]; }

 private:
  std::string text_;
  std::array<std::uint32_t, kSentences + 1> begins_{};
  std::array<std::uint32_t, kSentences + 1> utf8_begins_{};
};

// Made when first asked for.
template <Language kLanguage, web::Charset kCharset = web::Charset::kUtf8>
const Pool& the_pool() {
  static const Pool pool({kLanguage, kCharset});
  return pool;
}

const Pool& pool_of(const Script& script) {
  switch (script.language) {
    case Language::kEnglish: return the_pool<Language::kEnglish>();
    case Language::kGerman: return the_pool<Language::kGerman>();
    case Language::kFrench: return the_pool<Language::kFrench>();
    case Language::kSpanish: return the_pool<Language::kSpanish>();
    case Language::kRussian: return the_pool<Language::kRussian>();
    case Language::kJapanese: break;
  }
  switch (script.charset) {
    case web::Charset::kShiftJis: return the_pool<Language::kJapanese, web::Charset::kShiftJis>();
    case web::Charset::kEucJp: return the_pool<Language::kJapanese, web::Charset::kEucJp>();
    case web::Charset::kIso2022Jp: return the_pool<Language::kJapanese, web::Charset::kIso2022Jp>();
    default: return the_pool<Language::kJapanese>();
  }
}

}  // namespace

void append_prose(const Script& script, std::uint64_t key, std::size_t bytes_min,
                  std::string* out) {
  const Pool& pool = pool_of(script);
  Dice dice{kProse, key};
  const bool shifts = script.charset == web::Charset::kIso2022Jp;
  if (shifts) out->append(kShiftIn);
  for (std::size_t bytes = 0; bytes < bytes_min;) {
    const std::size_t i = dice.below(kSentences - kRun);
    bytes += pool.utf8_bytes(i);
    out->append(pool.run(i));
  }
  if (shifts) out->append(kShiftOut);
}

std::string title_of(Language language, std::uint64_t key) {
  Dice dice{kTitle, key};
  const Words words = words_of(language);
  std::string title;
  for (std::uint64_t i = 0; i < 4; ++i) {
    if (i > 0 && language != Language::kJapanese) title.push_back(' ');
    title.append(words[dice.below(words.size())]);
  }
  return title;
}

void append_title(const Script& script, std::uint64_t key, std::string* out) {
  out->append(encoded(title_of(script.language, key), script.charset));
}

}  // namespace meguri::sim
