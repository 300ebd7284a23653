// The glue: answers the suite's requests (docs/wire.md); one JSON-RPC message a line on standard input.
// g++ -std=c++20 -O2 -o cpp_subject main.cpp && f2csa conform --command ./cpp_subject
#include <iostream>

#include "estimates.hpp"

struct Refusal { int code; std::string message; };

std::map<std::string, Given> problems;
bool stopped = false;

void send(const Json& message) {
  std::string line;
  write(message, line);
  std::cout << line << std::endl;  // with a flush: the runner waits for it
}

Matrix ask_oracle(const Json& z) {
  std::string line;
  send(Json::Object{{"jsonrpc", "2.0"}, {"id", "oracle"}, {"method", "oracle"}, {"params", Json::Object{{"z", z}}}});
  if (!std::getline(std::cin, line)) throw Refusal{-32000, "the oracle left"};
  const Json reply = JsonReader(line).whole();
  if (reply.has("error")) throw Refusal{-32000, reply["error"]["message"].text()};
  const Json& gradient = reply["result"]["gradient"];
  return gradient.array()[0].is_array() ? gradient.matrix() : Matrix{gradient.vector()};
}

/** Algorithm 2 on the rows of x0; s has a row a step, or is null and made from the seed. */
OuterRuns runs(const Json& params, bool one) {
  const Json& outer = params["parameters"];
  const Matrix x0 = one ? Matrix{params["x0"].vector()} : params["x0"].matrix();
  const Generator own{uint64_t(params["seed"].number())};
  const bool given = !params["s"].null();
  const Matrix s = !given ? Matrix{} : one ? transpose({params["s"].vector()}, params["s"].array().size())
                                           : params["s"].matrix();
  const auto at = [&](int t, size_t r) { return given ? s[t][r] : own.uniform(t * x0.size() + r); };
  const auto oracle = [&](const Matrix& z) { return ask_oracle(one ? Json(z[0]) : Json(z)); };
  return outer_loop(oracle, x0, outer["D"].number(), outer["eta"].number(), int(outer["M"].number()),
                    int(outer["K"].number()), at);
}

Json problem(const Json& params) {
  if (params["kind"].text() != "quadratic") throw Refusal{-32001, "quadratic problems only"};
  const Json &a = params["arrays"], &noise = params["noise"];
  const auto objective = [&](const std::string& o) {
    return Objective{a[o + "_xx"].matrix(), a[o + "_xy"].matrix(), a[o + "_yy"].matrix(), a[o + "_x"].vector(),
                     a[o + "_y"].vector()};
  };
  const auto scale = [&](const std::string& gradient, const char* sigma) {
    for (const Json& on : noise["on"].array()) if (on.text() == gradient) return noise[sigma].number();
    return 0.0;
  };
  const Problem q{objective("f"), objective("g"), a["A"].matrix(), a["B"].matrix(), a["b"].vector()};
  problems[params["id"].text()] = {q, q.f.x0.size(), noise["model"].text(), scale("f.x", "sigma_f"),
                                   scale("g.x", "sigma_g")};
  return Json::Object{};
}

const Given& known(const Json& params) {
  const auto found = problems.find(params["problem"].text());
  if (found == problems.end()) throw Refusal{-32602, "no such problem"};
  return found->second;
}

const std::map<std::string, std::function<Json(const Json&)>> stages = {
    {"lower_level", [](const Json& params) {
       const Pair pair = lower_level(known(params).q, params["x"].vector());
       return Json::Object{{"y_star", pair.y}, {"lam", pair.lam}};
     }},
    {"activation", [](const Json& params) {
       const Vector rho = activation(params["h"].vector(), params["lam"].vector(), params["h_width"].number(),
                                     params["lam_width"].number());
       return Json::Object{{"rho", rho}};
     }},
    {"penalty_minimiser", [](const Json& params) {  // Newton's method ends below any tolerance asked for
       const auto [L, w] = stages_of(known(params), params["x"].vector(), params["call"]);
       return Json::Object{{"y", add(L.y_star, w)}};
     }},
    {"hypergradient", [](const Json& params) {
       return Json::Object{{"hypergradient", estimates(known(params), params, 1)[0]}};
     }},
    {"hypergradient_samples", [](const Json& params) {
       return Json::Object{{"hypergradients", estimates(known(params), params, size_t(params["replications"].number()))}};
     }},
    {"optimise", [](const Json& params) {
       const OuterRuns made = runs(params, true);
       const auto first = [](const std::vector<Matrix>& all) {
         Matrix rows;
         for (const Matrix& each : all) rows.push_back(each[0]);
         return rows;
       };
       const Matrix x_bar = first(made.x_bar);
       const Vector x_out = x_bar.at(size_t(params["block"].number()));
       return Json::Object{{"x_out", x_out}, {"x_bar", x_bar}, {"path", first(made.path)}};
     }},
    {"optimise_runs", [](const Json& params) {
       const OuterRuns made = runs(params, false);
       const bool keep = std::get<bool>(params["keep_path"].value);
       return Json::Object{{"x_bar", made.x_bar}, {"path", keep ? Json(made.path) : Json()}};
     }},
};

Json result(const std::string& method, const Json& params) {
  if (method == "initialize") {
    Json::Array names;
    for (const auto& stage : stages) names.push_back(stage.first);
    return Json::Object{{"protocol", "f2csa-wire/1"}, {"name", "cpp"}, {"language", "C++"}, {"version", "1"},
                        {"capabilities", names}, {"uses_draws", "seeded"}};
  }
  if (method == "problem") return problem(params);
  if (method == "echo") return Json::Object{{"values", params["values"]}};
  if (method == "shutdown") return stopped = true, Json(Json::Object{});
  const auto stage = stages.find(method);
  if (stage == stages.end()) throw Refusal{-32601, "no method " + method};
  return stage->second(params);
}

Json failure(const Json& id, int code, const std::string& message) {
  return Json::Object{{"jsonrpc", "2.0"}, {"id", id}, {"error", Json::Object{{"code", code}, {"message", message}}}};
}

/** The response to a request, null where none is due. */
Json answer(const Json& request) {
  if (!request.has("method")) return failure({}, -32600, "not a request");
  const Json id = request["id"];
  try {
    const std::string& method = request["method"].text();
    if (method == "forget") return problems.erase(request["params"]["id"].text()), Json();
    return Json::Object{{"jsonrpc", "2.0"}, {"id", id}, {"result", result(method, request["params"])}};
  } catch (const Refusal& refusal) {
    return failure(id, refusal.code, refusal.message);
  } catch (const std::bad_variant_access&) {
    return failure(id, -32602, "params that do not fit");
  } catch (const std::exception& error) {
    return failure(id, -32000, error.what());
  }
}

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    Json message;
    try {
      message = JsonReader(line).whole();
    } catch (const std::exception&) {
      send(failure({}, -32700, "not JSON"));
      continue;
    }
    if (message.is_array() && !message.array().empty()) {
      Json::Array answers;
      for (const Json& request : message.array())
        if (Json made = answer(request); !made.null()) answers.push_back(std::move(made));
      if (!answers.empty()) send(answers);
    } else if (const Json made = answer(message); !made.null()) {
      send(made);
    }
    if (stopped) break;
  }
}
