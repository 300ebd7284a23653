//! The glue: answers the suite's requests (docs/wire.md); one JSON-RPC message a line on standard input.
//! rustc --edition 2021 -O -o rust_subject main.rs && f2csa conform --command ./rust_subject
mod estimates;
mod f2csa;
mod json;

use estimates::{estimates, stages_of, Generator, Given, Refusal};
use f2csa::{activation, add, lower_level, outer_loop, Matrix, Objective, Outer, OuterRuns, Problem, Vector};
use json::{Json, Misfit};
use std::collections::HashMap;
use std::io::{BufRead, Write};

const STAGES: [&str; 7] = [
    "lower_level", "activation", "penalty_minimiser", "hypergradient", "hypergradient_samples", "optimise", "optimise_runs",
];

fn send(message: &Json) {
    let (mut line, mut output) = (String::new(), std::io::stdout().lock());
    message.write(&mut line);
    line.push('\n');
    // Nobody reads any more: the next line to read will be missing as well.
    let _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
}

fn receive() -> Option<String> {
    let mut line = Vec::new();
    let length = std::io::stdin().lock().read_until(b'\n', &mut line).unwrap_or(0);
    (length > 0).then(|| String::from_utf8_lossy(&line).into_owned())
}

fn ask_oracle(z: Json) -> Result<Json, Refusal> {
    let request = [("jsonrpc", "2.0".into()), ("id", "oracle".into()), ("method", "oracle".into())];
    let mut message = Json::object(request);
    if let Json::Object(fields) = &mut message { fields.insert("params".into(), Json::object([("z", z)])); }
    send(&message);
    let reply = receive().and_then(|line| Json::read(&line)).ok_or("the oracle left".to_string())?;
    if reply.has("error") { return Err(Refusal(-32000, reply.get("error").get("message").text()?.into())) }
    Ok(reply.get("result").get("gradient").clone())
}

/// Algorithm 2 on the rows of x0; s has a row a step, or is null and made from the seed.
fn runs(params: &Json, one: bool) -> Result<OuterRuns, Refusal> {
    let given = params.get("parameters");
    let outer = Outer {
        d: given.get("D").number()?,
        eta: given.get("eta").number()?,
        m: given.get("M").size()?,
        k: given.get("K").size()?,
    };
    let x0 = if one { vec![params.get("x0").vector()?] } else { params.get("x0").matrix()? };
    let (count, own) = (x0.len(), Generator(params.get("seed").number()? as u64));
    let s: Option<Matrix> = match params.get("s") {
        Json::Null => None,
        rows if one => Some(rows.vector()?.into_iter().map(|value| vec![value]).collect()),
        rows => Some(rows.matrix()?),
    };
    let at = |t: usize, r: usize| s.as_ref().map_or_else(|| own.uniform((t * count + r) as u64), |rows| rows[t][r]);
    let oracle = |z: &Matrix| -> Result<Matrix, Refusal> {
        if one { Ok(vec![ask_oracle(Json::from(z[0].as_slice()))?.vector()?]) } else { Ok(ask_oracle(Json::rows(z))?.matrix()?) }
    };
    outer_loop(oracle, x0, &outer, at)
}

fn problem(params: &Json) -> Result<Given, Refusal> {
    if params.get("kind").text()? != "quadratic" { return Err(Refusal(-32001, "quadratic problems only".into())) }
    let (arrays, noise) = (params.get("arrays"), params.get("noise"));
    let objective = |o: &str| -> Result<Objective, Misfit> {
        let block = |name: &str| arrays.get(&format!("{o}_{name}"));
        let (xx, xy, yy) = (block("xx").matrix()?, block("xy").matrix()?, block("yy").matrix()?);
        Ok(Objective { xx, xy, yy, x0: block("x").vector()?, y0: block("y").vector()? })
    };
    let scale = |gradient: &str, sigma: &str| -> Result<f64, Misfit> {
        let on = noise.get("on").array()?.contains(&Json::from(gradient));
        if on { noise.get(sigma).number() } else { Ok(0.0) }
    };
    let (a, b_rows, b) = (arrays.get("A").matrix()?, arrays.get("B").matrix()?, arrays.get("b").vector()?);
    let q = Problem { f: objective("f")?, g: objective("g")?, a, b_rows, b };
    let (sigma_f, sigma_g) = (scale("f.x", "sigma_f")?, scale("g.x", "sigma_g")?);
    Ok(Given { q, noise: noise.get("model").text()?.into(), sigma_f, sigma_g })
}

fn stage(method: &str, p: Option<&Given>, params: &Json) -> Result<Json, Refusal> {
    let vector = |name: &str| params.get(name).vector();
    let known = || p.ok_or(Refusal(-32602, "no such problem".into()));
    Ok(match method {
        "lower_level" => {
            let (y_star, lam) = lower_level(&known()?.q, &vector("x")?)?;
            Json::object([("y_star", Json::from(y_star.as_slice())), ("lam", Json::from(lam.as_slice()))])
        }
        "activation" => {
            let widths = (params.get("h_width").number()?, params.get("lam_width").number()?);
            let rho = activation(&vector("h")?, &vector("lam")?, widths.0, widths.1);
            Json::object([("rho", Json::from(rho.as_slice()))])
        }
        "penalty_minimiser" => {
            // Newton's method ends below any tolerance asked for.
            let (l, w) = stages_of(known()?, vector("x")?, params.get("call"))?;
            Json::object([("y", Json::from(add(&l.y_star, &w, 1.0).as_slice()))])
        }
        "hypergradient" => {
            Json::object([("hypergradient", Json::from(estimates(known()?, params, 1)?[0].as_slice()))])
        }
        "hypergradient_samples" => {
            let rows = estimates(known()?, params, params.get("replications").size()?)?;
            Json::object([("hypergradients", Json::rows(&rows))])
        }
        "optimise" => {
            let made = runs(params, true)?;
            let first = |all: &[Matrix]| -> Vec<Vector> { all.iter().map(|rows| rows[0].clone()).collect() };
            let x_bar = first(&made.x_bar);
            let x_out = x_bar.get(params.get("block").size()?).ok_or(Misfit)?.clone();
            Json::object([("x_out", Json::from(x_out.as_slice())), ("x_bar", Json::rows(&x_bar)),
                          ("path", Json::rows(&first(&made.path)))])
        }
        "optimise_runs" => {
            let made = runs(params, false)?;
            let all = |steps: &[Matrix]| Json::Array(steps.iter().map(|rows| Json::rows(rows)).collect());
            let path = if *params.get("keep_path") == Json::Truth(true) { all(&made.path) } else { Json::Null };
            Json::object([("x_bar", all(&made.x_bar)), ("path", path)])
        }
        _ => return Err(Refusal(-32601, format!("no method {method}"))),
    })
}

fn result(problems: &mut HashMap<String, Given>, method: &str, params: &Json) -> Result<Json, Refusal> {
    match method {
        "initialize" => Ok(Json::object([
            ("protocol", "f2csa-wire/1".into()), ("name", "rust".into()), ("language", "Rust".into()),
            ("version", "1".into()), ("uses_draws", "seeded".into()),
            ("capabilities", Json::Array(STAGES.iter().map(|&name| name.into()).collect())),
        ])),
        "problem" => {
            problems.insert(params.get("id").text()?.into(), problem(params)?);
            Ok(Json::object([]))
        }
        "echo" => Ok(Json::object([("values", params.get("values").clone())])),
        "shutdown" => Ok(Json::object([])),
        _ => stage(method, params.get("problem").text().ok().and_then(|id| problems.get(id)), params),
    }
}

fn response(id: Json, name: &str, content: Json) -> Json {
    Json::object([("jsonrpc", "2.0".into()), ("id", id), (name, content)])
}

fn failure(id: Json, Refusal(code, message): Refusal) -> Json {
    response(id, "error", Json::object([("code", f64::from(code).into()), ("message", message.as_str().into())]))
}

/// The response to a request; none is due to a notification.
fn answer(problems: &mut HashMap<String, Given>, request: &Json) -> Option<Json> {
    let Ok(method) = request.get("method").text() else {
        return Some(failure(Json::Null, Refusal(-32600, "not a request".into())));
    };
    let (id, params) = (request.get("id").clone(), request.get("params"));
    if method == "forget" {
        params.get("id").text().ok().and_then(|name| problems.remove(name));
        return None;
    }
    Some(match result(problems, method, params) {
        Ok(content) => response(id, "result", content),
        Err(refusal) => failure(id, refusal),
    })
}

fn main() {
    let mut problems = HashMap::new();
    while let Some(line) = receive() {
        match Json::read(&line) {
            None => send(&failure(Json::Null, Refusal(-32700, "not JSON".into()))),
            Some(Json::Array(requests)) if !requests.is_empty() => {
                let answers: Vec<Json> = requests.iter().filter_map(|each| answer(&mut problems, each)).collect();
                if !answers.is_empty() { send(&Json::Array(answers)) }
            }
            Some(message) => {
                if let Some(made) = answer(&mut problems, &message) { send(&made) }
                if message.get("method") == &Json::from("shutdown") { break }
            }
        }
    }
}
