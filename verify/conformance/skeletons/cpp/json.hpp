// JSON of the wire: one value a line, numbers as doubles in their shortest form.
#pragma once
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

struct Json {
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json>;
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value = nullptr;

  Json() = default;
  Json(bool truth) : value(truth) {}
  Json(double number) : value(number) {}
  Json(int number) : value(double(number)) {}
  Json(const char* text) : value(std::string(text)) {}
  Json(std::string text) : value(std::move(text)) {}
  Json(Array entries) : value(std::move(entries)) {}
  Json(Object fields) : value(std::move(fields)) {}
  template <class T>
  Json(const std::vector<T>& entries) : value(Array(entries.begin(), entries.end())) {}

  bool null() const { return std::holds_alternative<std::nullptr_t>(value); }
  bool is_array() const { return std::holds_alternative<Array>(value); }
  bool is_object() const { return std::holds_alternative<Object>(value); }
  // What is not there, or of another kind, throws std::bad_variant_access: params that do not fit.
  double number() const { return std::get<double>(value); }
  const std::string& text() const { return std::get<std::string>(value); }
  const Array& array() const { return std::get<Array>(value); }
  bool has(const std::string& name) const { return is_object() && std::get<Object>(value).count(name); }
  const Json& operator[](const std::string& name) const {
    static const Json nothing;
    const Object& fields = std::get<Object>(value);
    const auto found = fields.find(name);
    return found == fields.end() ? nothing : found->second;
  }
  Vector vector() const {
    Vector made;
    for (const Json& entry : array()) made.push_back(entry.number());
    return made;
  }
  Matrix matrix() const {
    Matrix made;
    for (const Json& row : array()) made.push_back(row.vector());
    return made;
  }
};

class JsonReader {
 public:
  explicit JsonReader(const std::string& line) : at(line.data()), end(at + line.size()) {}
  Json whole() {
    Json made = value();
    skip();
    return at == end ? made : fail();
  }

 private:
  const char *at, *end;
  [[noreturn]] static Json fail() { throw std::invalid_argument("not JSON"); }
  void skip() { while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) ++at; }
  bool take(char wanted) { return skip(), at < end && *at == wanted ? ++at, true : false; }
  bool word(const std::string& wanted) {
    if (std::string(at, std::min(end, at + wanted.size())) != wanted) return false;
    return at += wanted.size(), true;
  }
  Json value() {
    skip();
    if (at == end) fail();
    if (take('{')) {
      Json::Object fields;
      if (take('}')) return fields;
      do {
        if (!take('"')) fail();
        std::string name = text();
        if (!take(':')) fail();
        fields[name] = value();
      } while (take(','));
      return take('}') ? Json(std::move(fields)) : fail();
    }
    if (take('[')) {
      Json::Array entries;
      if (take(']')) return entries;
      do entries.push_back(value()); while (take(','));
      return take(']') ? Json(std::move(entries)) : fail();
    }
    if (take('"')) return text();
    if (word("null")) return {};
    if (word("true")) return true;
    if (word("false")) return false;
    double number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error == std::errc::invalid_argument || !std::isfinite(number)) fail();
    at = stop;
    return number;
  }
  std::string text() {
    std::string made;
    for (; at < end && *at != '"'; ++at) {
      if (*at != '\\') { made += *at; continue; }
      if (++at == end) fail();
      const std::string plain = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
      if (const auto k = plain.find(*at); k != std::string::npos) made += meant[k];
      else if (*at == 'u' && end - at > 4) made += '?', at += 4;  // no name that matters here has such letters
      else fail();
    }
    return take('"') ? made : (fail(), made);
  }
};

inline void write(const Json& json, std::string& line) {
  if (json.null()) line += "null";
  else if (const bool* truth = std::get_if<bool>(&json.value)) line += *truth ? "true" : "false";
  else if (const double* number = std::get_if<double>(&json.value)) {
    if (!std::isfinite(*number)) throw std::runtime_error("a number of the answer is not finite");
    char digits[32];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, *number).ptr);
  } else if (const std::string* text = std::get_if<std::string>(&json.value)) {
    line += '"';
    for (const char c : *text) {
      if (c == '"' || c == '\\') line += '\\';
      line += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
    line += '"';
  } else if (json.is_array()) {
    char before = '[';
    for (const Json& entry : json.array()) line += before, before = ',', write(entry, line);
    line += before == '[' ? "[]" : "]";
  } else {
    char before = '{';
    for (const auto& [name, entry] : std::get<Json::Object>(json.value)) {
      line += before, before = ',', write(name, line), line += ':', write(entry, line);
    }
    line += before == '{' ? "{}" : "}";
  }
}
