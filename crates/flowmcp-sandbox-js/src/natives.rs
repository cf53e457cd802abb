//! What the prelude's JavaScript asks of Rust: encodings, URLs, the log, requests.

use std::{
    cell::Cell,
    hash::{BuildHasher, Hasher, RandomState},
    rc::Rc,
    time::Instant,
};

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose},
};
use bytes::Bytes;
use flowmcp_plugin::{DerivedEncoding, DerivedToken, FetchRequest, LogLevel, Method};
use rquickjs::{Ctx, Exception, Function, Object, Persistent, Result, TypedArray, function::Opt};
use url::{Url, quirks};

use crate::{context::Shared, edge};

/// Base64 as browsers and Node.js read it: padding is optional, left-over bits are ignored.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The functions that a piece of the prelude gets.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let set = |name: &str, function: Result<Function<'js>>| native.set(name, function?);

    set("utf8Encode", Function::new(ctx.clone(), utf8_encode))?;
    set("bytesFrom", Function::new(ctx.clone(), bytes_from))?;
    set("decoderName", Function::new(ctx.clone(), decoder_name))?;
    set("decode", Function::new(ctx.clone(), decode))?;
    set("atob", Function::new(ctx.clone(), atob))?;
    set("formParse", Function::new(ctx.clone(), form_parse))?;
    set("formEncode", Function::new(ctx.clone(), form_encode))?;
    set("url", Function::new(ctx.clone(), parse_url))?;
    set("urlSet", Function::new(ctx.clone(), change_url))?;
    set("statusText", Function::new(ctx.clone(), status_text))?;

    let of = Rc::clone(shared);
    let text_from = move |bytes: TypedArray<'js, u8>, encoding: String| {
        text_from(&of, &edge::copy_bytes(&bytes), &encoding)
    };
    set("textFrom", Function::new(ctx.clone(), text_from))?;
    let of = Rc::clone(shared);
    let btoa = move |text: String| {
        let latin1: Vec<u8> = text.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect();
        base64_text(&of, &latin1, DerivedEncoding::Base64)
    };
    set("btoa", Function::new(ctx.clone(), btoa))?;
    let of = Rc::clone(shared);
    let log = move |level: u8, line: String| of.host.log(log_level(level), &line);
    set("log", Function::new(ctx.clone(), log))?;
    let of = Rc::clone(shared);
    let start =
        move |ctx: Ctx<'js>, method: String, url: String, pairs: Vec<String>, body: TypedArray<'js, u8>| {
            start(&of, &ctx, &method, url, pairs, &body)
        };
    set("start", Function::new(ctx.clone(), start))?;
    let of = Rc::clone(shared);
    let attach = move |ctx: Ctx<'js>, next: Function<'js>, due: Function<'js>, settle: Function<'js>| {
        let [next, due, settle] = [next, due, settle].map(|function| Persistent::save(&ctx, function));
        of.network.replace(Some(Network { next, due, settle }));
    };
    set("attach", Function::new(ctx.clone(), attach))?;
    Ok(native)
}

/// `Math.random`. The engine's own would give each call the same numbers, since calls begin with the same memory.
pub(crate) fn random() -> impl Fn() -> f64 {
    // The hasher's keys come from the system's random numbers.
    let (keys, calls) = (RandomState::new(), Cell::new(0_u64));
    move || {
        calls.set(calls.get().wrapping_add(1));
        // A double has 53 bits.
        (keys.hash_one(calls.get()) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Entries of `fetch.js` that the sandbox calls when a script has nothing left to run.
#[derive(Clone)]
pub(crate) struct Network {
    /// Milliseconds until the next timer; -1 when only requests are open, `undefined` when nothing is.
    pub(crate) next: Persistent<Function<'static>>,
    /// Runs one timer that is due.
    pub(crate) due: Persistent<Function<'static>>,
    /// Settles a request's promise.
    pub(crate) settle: Persistent<Function<'static>>,
}

fn log_level(level: u8) -> LogLevel {
    match level {
        0 => LogLevel::Debug,
        1 => LogLevel::Info,
        2 => LogLevel::Warn,
        _ => LogLevel::Error,
    }
}

fn utf8_encode<'js>(ctx: Ctx<'js>, text: String) -> Result<TypedArray<'js, u8>> {
    TypedArray::new_copy(ctx, text.as_bytes())
}

fn bytes_from<'js>(ctx: Ctx<'js>, text: String, encoding: String) -> Result<TypedArray<'js, u8>> {
    let bytes = match encoding.as_str() {
        "hex" => hex_bytes(&text),
        "base64" | "base64url" => node_base64(&text),
        "latin1" => text.encode_utf16().map(|unit| unit.to_le_bytes()[0]).collect(),
        "utf16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.into_bytes(),
    };
    TypedArray::new_copy(ctx, bytes)
}

/// Pairs of hexadecimal digits up to the first that is none, as Node.js reads them.
fn hex_bytes(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    text.as_bytes()
        .chunks_exact(2)
        .map_while(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}

/// Base64 of either alphabet; other characters are skipped and padding ends it, as Node.js reads it.
fn node_base64(text: &str) -> Vec<u8> {
    let mut clean: Vec<u8> = text
        .bytes()
        .take_while(|byte| *byte != b'=')
        .filter_map(|byte| match byte {
            b'-' => Some(b'+'),
            b'_' => Some(b'/'),
            b'+' | b'/' => Some(byte),
            _ if byte.is_ascii_alphanumeric() => Some(byte),
            _ => None,
        })
        .collect();
    if clean.len() % 4 == 1 {
        clean.pop();
    }
    LENIENT.decode(clean).unwrap_or_default()
}

/// Base64 as `atob` reads it (WHATWG infra, forgiving-base64 decode); the bytes become characters.
fn atob(text: String) -> Option<String> {
    let mut clean: Vec<u8> =
        text.bytes().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')).collect();
    if clean.len().is_multiple_of(4) {
        for _ in 0..2 {
            if clean.last() == Some(&b'=') {
                clean.pop();
            }
        }
    }
    if clean.len() % 4 == 1 || clean.contains(&b'=') {
        return None;
    }
    LENIENT.decode(clean).ok().map(|bytes| bytes.into_iter().map(char::from).collect())
}

fn decoder_name(label: String) -> Option<String> {
    encoding_rs::Encoding::for_label(label.as_bytes()).map(|encoding| encoding.name().to_ascii_lowercase())
}

/// Text of bytes, the byte order mark included; none when `fatal` and malformed.
fn decode(bytes: TypedArray<'_, u8>, encoding: String, fatal: bool) -> Option<String> {
    let bytes = edge::copy_bytes(&bytes);
    let encoding = encoding_rs::Encoding::for_label(encoding.as_bytes())?;
    let (text, malformed) = encoding.decode_without_bom_handling(&bytes);
    (!fatal || !malformed).then(|| text.into_owned())
}

fn text_from(shared: &Shared, bytes: &[u8], encoding: &str) -> String {
    match encoding {
        "hex" => {
            let mut text = String::with_capacity(bytes.len() * 2);
            for byte in bytes {
                for half in [byte >> 4, byte & 15] {
                    text.extend(char::from_digit(u32::from(half), 16));
                }
            }
            text
        }
        "base64" => base64_text(shared, bytes, DerivedEncoding::Base64),
        "base64url" => base64_text(shared, bytes, DerivedEncoding::Base64Url),
        "latin1" => bytes.iter().copied().map(char::from).collect(),
        "utf16le" => encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0.into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Base64, or a derived token when the bytes hold a token: encoded, it could no longer be replaced by its secret.
fn base64_text(shared: &Shared, bytes: &[u8], encoding: DerivedEncoding) -> String {
    let holds = |token: &str| memchr::memmem::find(bytes, token.as_bytes()).is_some();
    let of_input = shared.tokens.borrow().iter().any(|token| holds(token));
    if of_input || shared.derived.borrow().iter().any(|made| holds(&made.token)) {
        let token = derived_name(bytes, encoding);
        let mut derived = shared.derived.borrow_mut();
        if !derived.iter().any(|known| known.token == token) {
            derived.push(DerivedToken {
                token: token.clone(),
                encoding,
                text: Bytes::copy_from_slice(bytes),
            });
        }
        return token;
    }
    match encoding {
        DerivedEncoding::Base64 => general_purpose::STANDARD.encode(bytes),
        DerivedEncoding::Base64Url => general_purpose::URL_SAFE_NO_PAD.encode(bytes),
    }
}

/// A name that others cannot guess, since the bytes hold a token that they do not know.
fn derived_name(bytes: &[u8], encoding: DerivedEncoding) -> String {
    let half = |salt: u8| {
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write_u8(encoding as u8);
        hasher.write(bytes);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}

fn form_parse(query: String) -> Vec<String> {
    form_urlencoded::parse(query.as_bytes())
        .flat_map(|(name, value)| [name.into_owned(), value.into_owned()])
        .collect()
}

fn form_encode(flat: Vec<String>) -> String {
    let mut out = form_urlencoded::Serializer::new(String::new());
    for pair in flat.chunks_exact(2) {
        if let [name, value] = pair {
            out.append_pair(name, value);
        }
    }
    out.finish()
}

fn parse_url(text: String, base: Opt<rquickjs::Value<'_>>) -> Result<Option<Vec<String>>> {
    let base = base.0.filter(|base| !base.is_undefined()).map(|base| base.get::<String>()).transpose()?;
    let url = match base {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&text)),
        None => Url::parse(&text),
    };
    Ok(url.ok().map(|url| url_parts(&url)))
}

/// In the order of `PARTS` in `web.js`.
fn url_parts(url: &Url) -> Vec<String> {
    [
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([quirks::origin(url)])
    .collect()
}

/// The parts after one was set; an impossible value changes nothing.
fn change_url(href: String, part: String, value: String) -> Option<Vec<String>> {
    let mut url = Url::parse(&href).ok()?;
    // The setters of WHATWG URL ignore impossible values silently; so does this.
    let ignored = match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).map_err(drop),
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Err(()),
    };
    ignored.ok().map(|()| url_parts(&url))
}

fn start(
    shared: &Shared,
    ctx: &Ctx<'_>,
    method: &str,
    url: String,
    pairs: Vec<String>,
    body: &TypedArray<'_, u8>,
) -> Result<f64> {
    let method: Method = method.parse().map_err(|_| {
        Exception::throw_type(ctx, &format!("fetch: method {method} is not one of GET, POST, PUT, DELETE"))
    })?;
    let mut headers = Vec::with_capacity(pairs.len() / 2);
    let mut pairs = pairs.into_iter();
    while let (Some(name), Some(value)) = (pairs.next(), pairs.next()) {
        headers.push((name, value));
    }
    let derived = shared.derived.borrow().clone();
    let request = FetchRequest { method, url, headers, body: edge::copy_bytes(body).into(), derived };
    let ticket = shared
        .host
        .start(request)
        .map_err(|refusal| Exception::throw_type(ctx, &format!("fetch: {refusal}")))?;
    // Tickets are counted per call, far below 2^53.
    Ok(ticket.0 as f64)
}

/// Milliseconds as `fetch.js` gives them, as a moment.
pub(crate) fn after_milliseconds(milliseconds: f64) -> Option<Instant> {
    let wait = std::time::Duration::try_from_secs_f64(milliseconds.max(0.0) / 1000.0).ok()?;
    Instant::now().checked_add(wait)
}

fn status_text(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Payload Too Large",
        415 => "Unsupported Media Type",
        418 => "I'm a Teapot",
        422 => "Unprocessable Entity",
        425 => "Too Early",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
