// Codec<T>: how an item becomes bytes, for edges that leave memory (spilling edges now, edges
// between machines later). Specialise it beside the item's type:
//
//   template <> struct meguri::flow::Codec<Candidate> {
//     static void encode(const Candidate& item, std::string& out);   // appends
//     static bool decode(std::string_view bytes, Candidate& item);   // false: not such bytes
//   };
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace meguri::flow {

template <typename T>
struct Codec;

template <typename T>
concept Encodable = requires(const T& item, T& target, std::string& out, std::string_view bytes) {
  Codec<T>::encode(item, out);
  { Codec<T>::decode(bytes, target) } -> std::same_as<bool>;
};

using base::put_fixed;
using base::put_text;
using base::take_fixed;
using base::take_text;

template <std::unsigned_integral T>
struct Codec<T> {
  static void encode(const T& item, std::string& out) { put_fixed(out, item); }
  static bool decode(std::string_view bytes, T& item) {
    return take_fixed(bytes, item) && bytes.empty();
  }
};

template <>
struct Codec<std::string> {
  static void encode(const std::string& item, std::string& out) { out += item; }
  static bool decode(std::string_view bytes, std::string& item) {
    item = bytes;
    return true;
  }
};

}  // namespace meguri::flow
