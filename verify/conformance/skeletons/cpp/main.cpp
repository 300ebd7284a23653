// The glue: what the suite asks, one JSON-RPC message a line on standard input, put to solver.hpp.
#include <iostream>

#include "json.hpp"
#include "solver.hpp"

struct Refusal { int code; std::string message; };
struct Known { Problem q; bool noisy; };

std::map<std::string, Known> problems;
bool stopped = false;

void send(const Json& message) {
  std::string line;
  write(message, line);
  std::cout << line << std::endl;  // with a flush: the runner waits for it
}

Vector ask_oracle(const Vector& z) {
  std::string line;
  send(Json::Object{{"jsonrpc", "2.0"}, {"id", "oracle"}, {"method", "oracle"}, {"params", Json::Object{{"z", z}}}});
  if (!std::getline(std::cin, line)) throw Refusal{-32000, "the oracle left"};
  const Json reply = JsonReader(line).whole();
  if (reply.has("error")) throw Refusal{-32000, reply["error"]["message"].text()};
  return reply["result"]["gradient"].vector();
}

Json problem(const Json& params) {
  if (params["kind"].text() != "quadratic") throw Refusal{-32001, "quadratic objectives only"};
  const Json& a = params["arrays"];
  const auto objective = [&](const std::string& o) {
    return Objective{a[o + "_xx"].matrix(), a[o + "_xy"].matrix(), a[o + "_yy"].matrix(), a[o + "_x"].vector(),
                     a[o + "_y"].vector()};
  };
  const Problem q{objective("f"), objective("g"), a["A"].matrix(), a["B"].matrix(), a["b"].vector()};
  problems[params["id"].text()] = {q, params["noise"]["model"].text() != "none"};
  return Json::Object{};
}

const Known& known(const Json& params) {
  const auto found = problems.find(params["problem"].text());
  if (found == problems.end()) throw Refusal{-32602, "no such problem"};
  return found->second;
}

/** Lines 3 to 5; a stage value that the call gives is used as it is. */
std::pair<Held, Vector> stages_of(const Problem& q, const Vector& x, const Json& call) {
  const auto given = [&](const char* name) { return call[name].null() ? Vector{} : call[name].vector(); };
  Vector y_star = given("y_star"), lam = given("lam"), rho = given("rho"), shift = given("y_penalty");
  if (y_star.empty() || lam.empty()) {
    const Pair found = lower_level(q, x);
    if (y_star.empty()) y_star = found.y_star;
    if (lam.empty()) lam = found.lam;
  }
  if (rho.empty()) {
    Vector h(q.b.size());
    for (size_t i = 0; i < h.size(); ++i) {
      h[i] = -q.b[i];
      for (size_t j = 0; j < x.size(); ++j) h[i] += q.A[i][j] * x[j];
      for (size_t j = 0; j < y_star.size(); ++j) h[i] -= q.B[i][j] * y_star[j];
    }
    rho = activation(h, lam, call["h_width"].number(), call["parameters"]["lam_width"].number());
  }
  const Held held{call["alpha"].number(), y_star, lam, rho};
  if (shift.empty()) return {held, penalty_shift(q, x, held)};
  for (size_t j = 0; j < shift.size(); ++j) shift[j] -= y_star[j];
  return {held, shift};
}

const std::map<std::string, std::function<Json(const Json&)>> stages = {
    {"lower_level", [](const Json& params) {
       const Pair pair = lower_level(known(params).q, params["x"].vector());
       return Json::Object{{"y_star", pair.y_star}, {"lam", pair.lam}};
     }},
    {"activation", [](const Json& params) {
       const Vector rho = activation(params["h"].vector(), params["lam"].vector(), params["h_width"].number(),
                                     params["lam_width"].number());
       return Json::Object{{"rho", rho}};
     }},
    {"penalty_minimiser", [](const Json& params) {
       auto [held, y] = stages_of(known(params).q, params["x"].vector(), params["call"]);
       for (size_t j = 0; j < y.size(); ++j) y[j] += held.y_star[j];
       return Json::Object{{"y", y}};
     }},
    {"hypergradient", [](const Json& params) {
       if (known(params).noisy) throw Refusal{-32001, "problems without noise only"};
       const Vector x = params["x"].vector();
       const auto [held, shift] = stages_of(known(params).q, x, params["call"]);
       return Json::Object{{"hypergradient", gradient_x(known(params).q, x, held, shift)}};
     }},
    {"optimise", [](const Json& params) {
       const Json& outer = params["parameters"];
       if (params["s"].null()) throw Refusal{-32001, "runs whose uniform numbers are given only"};
       const OuterRun made = outer_loop(ask_oracle, params["x0"].vector(), outer["D"].number(), outer["eta"].number(),
                                        int(outer["M"].number()), int(outer["K"].number()), params["s"].vector());
       const Vector x_out = made.x_bar.at(size_t(params["block"].number()));
       return Json::Object{{"x_out", x_out}, {"x_bar", made.x_bar}, {"path", made.path}};
     }},
};

Json result(const std::string& method, const Json& params) {
  if (method == "initialize") {
    Json::Array names;
    for (const auto& stage : stages) names.push_back(stage.first);
    return Json::Object{{"protocol", "f2csa-wire/1"}, {"name", "my-solver"}, {"language", "C++"}, {"version", "1"},
                        {"capabilities", names},
                        {"readings", Json::Object{{"dual_term", Json::Array{"cancelled"}}}}};
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
  } catch (const NotWritten& missing) {
    return failure(id, -32002, missing.what());
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
